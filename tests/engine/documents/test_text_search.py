"""Search in names and printed words: what is found, whatever people type, and in step with the words."""

import random
import unicodedata
from collections.abc import Sequence

import pytest
from sqlalchemy import delete, insert, text, update

from db import document_texts, migrate
from db.search_tokens import words_of
from db.tables import Document, DocumentText, Page, PageWord
from engine.accounts.users import ensure_local_user
from engine.annotation.words import WordEditsRequest, edit_words, page_words
from engine.documents.lists import search_texts as kept_texts
from engine.documents.lists import text_search
from engine.documents.lists.listing import Sort, all_lines, document_page
from engine.documents.renaming import rename_document
from engine.followers import catch_up
from engine.lifecycle.bin import remove, restore
from engine.workspace import Workspace
from tests.support.factories import line, make_document, make_project, pages_of
from tests.support.statements import heard


class Shelf:
    """A project of documents whose words are given as texts, one a page."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.project = make_project(workspace, "shelf").id

    def add(self, name: str, *pages: str, project: str | None = None) -> Document:
        return make_document(self.workspace, project or self.project, [line(each) for each in pages], name=name)

    def found(self, query: str, sort: Sort = "-created") -> list[str]:
        page = document_page(self.workspace, self.project, query=query, sort=sort)
        assert page.total == len(page.lines)
        return sorted(each.name for each in page.lines)

    def edit_words(self, document: Document, *edits: dict[str, object], page: int = 1) -> None:
        page_id = pages_of(self.workspace, document.id)[page - 1].id
        base = page_words(self.workspace, page_id).version
        request = WordEditsRequest(idempotency_key=f"{document.id}-{page}-{base}", base=base, edits=list(edits))  # type: ignore[arg-type]
        edit_words(self.workspace, page_id, request, ensure_local_user(self.workspace).id)


@pytest.fixture
def shelf(workspace: Workspace) -> Shelf:
    return Shelf(workspace)


def test_a_document_is_found_by_its_name_and_by_printed_words(shelf: Shelf) -> None:
    shelf.add("march invoice.pdf", "Harbour dues for freight", "Total 1.234,50")
    shelf.add("letter.pdf", "Dear harbour master")
    shelf.add("foreign.pdf", "harbour", project=make_project(shelf.workspace, "another").id)
    assert shelf.found("HARB") == ["letter.pdf", "march invoice.pdf"]
    assert shelf.found("voice harbour") == ["march invoice.pdf"], "a part of the name, and a printed word"
    assert shelf.found("harbour 1.234") == ["march invoice.pdf"], "words of two pages"
    assert shelf.found("arbour") == [], "of a printed word only the beginning"
    assert shelf.found("freight master") == []


@pytest.mark.parametrize(
    ("printed", "queries"),
    [
        ("(HV-20418),", ["hv-20418", "HV-2", "20418", "(hv", "(HV-20418),"]),
        ("1.234,50", ["1.234,50", "1.2", "234,50"]),
        ("O'Neill", ["o'neill", "O'", "neill"]),
        ("“Größe”", ["GRÖSSE", "größ", unicodedata.normalize("NFD", "Größe")]),
        ("ﬁnal", ["final", "FIN"]),
        ("請求書番号", ["請求", "番号", "号"]),
        ("ใบแจ้งหนี้", ["ใบแจ้ง", "หนี้"]),
        ("हिन्दी", ["हिन्दी", "हि"]),
        ("合 計 金 額 は 1250 円 で す", ["合計金額", "金額は1250円です", "1250", "円です"]),
        (" ".join("番号" * 150) + " 請 求", ["番号番号番", "請求", "号請求"]),
        ("١٢٣٫٥", ["123.5", "١٢٣٫٥", "١٢٣", "۱۲۳"]),
        ("1250", ["١٢٥٠", "1250"]),
        ("a\\b|c&d:*", ["a\\b|c&d:*", "b|c", "d:*"]),
        ("total:", ["total:", "TOTAL"]),
        ("€5", ["€5", "5"]),
    ],
)
def test_words_of_all_kinds_are_found_as_people_type_them(shelf: Shelf, printed: str, queries: Sequence[str]) -> None:
    shelf.add("a.pdf", f"Before {printed} behind")
    shelf.add("b.pdf", "Another text")
    for query in queries:
        assert shelf.found(query) == ["a.pdf"], query


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "'",
        "\\",
        '" OR "a',
        "a* NOT b",
        "a' | 'b",
        "a:* & !b",
        "tokens:a",
        "NEAR(a b)",
        "(a",
        "^a + b",
        "a\0b",
        "\x01=",
        "\ud800",
        "😀👩‍👩‍👧",
        "%_",
        "-- ; DROP TABLE documents",
        "':*",
        "x" * 200,
        "'" * 200,
        " ".join("abcdefghijklmnopqrstuvwxyz0123456789"),
        " ".join(f"{a}{b}" for a in "abcdefgh" for b in "xyzuvwrs"),
    ],
)
def test_no_query_breaks_the_search(shelf: Shelf, query: str) -> None:
    shelf.add("plain.pdf", "nothing of that")
    assert shelf.found(query) == []
    shelf.add(f"so {query[:150]} it is.pdf".replace("\0", " ").replace("\ud800", "?"), "x")
    for word in words_of(query[:150].replace("\0", " ").replace("\ud800", "?")):
        assert shelf.found(word), word


def test_corrected_words_are_found_and_retired_ones_are_not(shelf: Shelf) -> None:
    document = shelf.add("a.pdf", "Invoice HV-1 due")
    shelf.edit_words(document, {"op": "text", "number": 0, "text": "Receipt"})
    assert (shelf.found("invoice"), shelf.found("receipt")) == ([], ["a.pdf"])
    box = page_words(shelf.workspace, pages_of(shelf.workspace, document.id)[0].id).boxes[1]
    middle = (box[0] + box[2]) // 2
    halves = [
        {"text": "alpha", "box": (*box[:2], middle, box[3])},
        {"text": "beta", "box": (middle, box[1], *box[2:])},
    ]
    shelf.edit_words(document, {"op": "split", "number": 1, "parts": halves})
    assert (shelf.found("hv-1"), shelf.found("alpha beta")) == ([], ["a.pdf"])
    assert kept_texts.check(shelf.workspace) == []


def test_words_of_a_long_document_are_found_across_its_pages(shelf: Shelf) -> None:
    pages = [f"page number{at}" for at in range(2 * document_texts.PART + 3)]
    document = shelf.add("long.pdf", *pages)
    shelf.add("short.pdf", "page number0")
    last = f"number{len(pages) - 1}"
    assert shelf.found(f"number0 {last}") == ["long.pdf"] == shelf.found(f"long number9 {last}")
    assert shelf.found("page number0") == ["long.pdf", "short.pdf"]
    shelf.edit_words(document, {"op": "text", "number": 1, "text": "moved"}, page=len(pages))
    assert (shelf.found(last), shelf.found("number0 moved number9")) == ([], ["long.pdf"])


def test_a_new_name_reads_words_of_the_first_part_alone_and_a_removal_none(shelf: Shelf) -> None:
    workspace, pages = shelf.workspace, [f"page number{at}" for at in range(document_texts.PART + 3)]
    document = shelf.add("long.pdf", *pages)
    with heard(workspace) as statements:
        rename_document(workspace, document.id, "brief.pdf", None)
    of_words = [str(each) for each in statements if "FROM pages JOIN words" in str(each)]
    assert len(of_words) == 1 and "BETWEEN" in of_words[0], "by the numbers of pages"
    last = f"number{len(pages) - 1}"
    assert (shelf.found("long"), shelf.found(f"brief number0 {last}")) == ([], ["brief.pdf"])
    with heard(workspace) as statements:
        remove(workspace, shelf.project, [document.id], None)
    assert statements and not [each for each in statements if "FROM pages JOIN words" in str(each)]
    assert shelf.found("brief") == [] and kept_texts.check(workspace) == []
    restore(workspace, shelf.project, [document.id], None)
    assert shelf.found(f"brief number0 {last}") == ["brief.pdf"]
    assert kept_texts.check(workspace) == []


def test_pages_that_arrive_later_are_found(shelf: Shelf) -> None:
    document = shelf.add("a.pdf", "first")
    for number in range(2, document_texts.PART + 3):
        with shelf.workspace.database.write() as session:
            page = Page(
                document_id=document.id,
                number=number,
                width=400,
                height=300,
                image_sha256="0" * 64,
                image_media_type="image/png",
                text_source="given",
                word_count=1,
            )
            session.add(page)
            session.flush()
            word = {"number": 0, "position": 0, "line": 0, "text": f"late{number}", "x0": 0, "y0": 0, "x1": 9, "y1": 9}
            session.execute(insert(PageWord), [{"page_id": page.id, **word}])
        assert shelf.found(f"first late{number}") == ["a.pdf"]
    assert kept_texts.check(shelf.workspace) == []


def test_a_page_with_more_words_than_a_row_takes_is_found(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_texts, "MOST_BYTES", 100)
    shelf.add("full.pdf", " ".join(f"word{at}" for at in range(60)))
    assert shelf.found("word0 word59 word33 full") == ["full.pdf"]


@pytest.mark.parametrize("sort", ["-created", "name"])
def test_common_and_rare_words_give_the_same_pages(shelf: Shelf, monkeypatch: pytest.MonkeyPatch, sort: Sort) -> None:
    for at in range(7):
        shelf.add(f"{'bca'[at % 3]}{at}.pdf", "common invoice", *["more"] * (document_texts.PART if at == 3 else 1))
    whole = [each.name for each in all_lines(shelf.workspace, shelf.project, query="common more", sort=sort)]
    assert len(whole) == 7
    monkeypatch.setattr(text_search, "FEW", 2)
    seen: list[str] = []
    cursor = None
    while True:
        page = document_page(shelf.workspace, shelf.project, query="common more", sort=sort, limit=2, cursor=cursor)
        assert page.total == 7
        seen += [each.name for each in page.lines]
        if (cursor := page.next) is None:
            break
    assert seen == whole


def test_the_search_agrees_with_a_look_at_every_word(shelf: Shelf) -> None:
    """Random documents, corrections and queries, against a plain reading of names and words."""
    rng = random.Random(5)
    vocabulary = ["Invoice", "inv-77", "due", "Größe", "(A-1)", "a1", "号番", "x", "it's", "1,50", "due:"]
    documents = []
    for at in range(12):
        pages = [" ".join(rng.choices(vocabulary, k=4)) for _ in range(rng.choice([1, 1, 2, 10]))]
        documents.append(shelf.add(f"{rng.choice(vocabulary)} {at}.pdf", *pages))
    for _ in range(60):
        document = rng.choice(documents)
        page = rng.randrange(len(pages_of(shelf.workspace, document.id))) + 1
        shelf.edit_words(
            document, {"op": "text", "number": rng.randrange(4), "text": rng.choice(vocabulary)}, page=page
        )
        query = " ".join(each[: rng.randint(1, 9)] for each in rng.choices(vocabulary, k=rng.randint(1, 2)))
        assert shelf.found(query) == _plainly(shelf, documents, query), query
    assert kept_texts.check(shelf.workspace) == []


def _plainly(shelf: Shelf, documents: Sequence[Document], query: str) -> list[str]:
    def begins(word: str, printed: str) -> bool:
        starts = [
            at
            for at in range(len(printed))
            if at == 0 or (printed[at].isalnum() and (not printed[at - 1].isalnum() or printed[at] in "号番"))
        ]
        return any(printed.startswith(word, at) for at in starts)

    found = []
    for document in documents:
        texts = [
            words_of(each)[0]
            for page in pages_of(shelf.workspace, document.id)
            for each in page_words(shelf.workspace, page.id).texts
        ]
        if all(word in document.name_key or any(begins(word, each) for each in texts) for word in words_of(query)):
            found.append(document.name)
    return sorted(found)


def test_what_differs_is_found_and_made_anew(shelf: Shelf) -> None:
    wrong, right = shelf.add("a.pdf", "alpha"), shelf.add("b.pdf", "beta")
    lost = shelf.add("c.pdf", "gamma")
    with shelf.workspace.database.engine.begin() as connection:  # past every service
        of = DocumentText.document_id
        connection.execute(update(DocumentText).where(of == wrong.id).values(tokens="omega"))
        connection.execute(delete(DocumentText).where(of == lost.id))
    assert kept_texts.check(shelf.workspace) == [wrong.id, lost.id]
    kept_texts.rebuild(shelf.workspace)
    assert kept_texts.check(shelf.workspace) == [] and kept_texts.index_is_whole(shelf.workspace)
    assert [shelf.found(each) for each in ("alpha", "beta", "gamma")] == [["a.pdf"], ["b.pdf"], ["c.pdf"]]
    assert right.id not in kept_texts.check(shelf.workspace)


def test_a_damaged_index_is_found_and_made_anew(sqlite_workspace: Workspace) -> None:
    shelf = Shelf(sqlite_workspace)
    document = shelf.add("a.pdf", "alpha")
    with sqlite_workspace.database.engine.begin() as connection:  # past the triggers
        kept = connection.execute(text("SELECT id, tokens FROM document_texts")).one()
        connection.execute(
            text("INSERT INTO document_search (document_search, rowid, tokens) VALUES ('delete', :id, :tokens)"),
            {"id": kept.id, "tokens": kept.tokens},
        )
    assert shelf.found("alpha") == [] and not kept_texts.index_is_whole(sqlite_workspace)
    kept_texts.rebuild(sqlite_workspace)
    assert shelf.found("alpha") == ["a.pdf"] and kept_texts.check(sqlite_workspace) == []
    assert kept_texts.index_is_whole(sqlite_workspace) and document.id


def test_documents_that_were_there_before_are_found_by_their_words(shelf: Shelf) -> None:
    shelf.add("Größe.pdf", "HV-1 “Straße” 請求書 हिन्दी o'neill")
    shelf.add("long.pdf", *(f"word{at}" for at in range(document_texts.PART + 2)))
    catch_up(shelf.workspace)
    migrate.downgrade(shelf.workspace.database, "0012")
    migrate.upgrade(shelf.workspace.database)
    assert kept_texts.check(shelf.workspace) == []
    assert (shelf.found("strasse 求書 grö"), shelf.found("word0 word9")) == (["Größe.pdf"], ["long.pdf"])
    shelf.add("new.pdf", "HV-1")
    assert shelf.found("hv-1") == ["Größe.pdf", "new.pdf"] and migrate.differences(shelf.workspace.database) == []
