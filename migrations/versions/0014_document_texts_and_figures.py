"""Documents are found by the words printed on them, and the sums of a project's documents are kept.

Tokens of names and words with an index of these; numbers of documents and their sums.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

AT_ONCE = 20  # documents
PART = 8  # pages
MOST_BYTES = 400_000  # of the tokens of a row
# New rows wait in a list that every search reads, until it is so long (kilobytes).
_LISTED = {"gin_pending_list_limit": 256}
SEVERAL = 2**40  # ids from here on: rows of documents that have several
LONGEST, LONGEST_UNSPACED, SHORT = 255, 32, 2

# Every character but a space belongs to a token. All are folded already.
_SIGNS = "".join(chr(code) for code in range(33, 127) if not chr(code).isalnum()).replace("'", "''").replace('"', '""')
_INDEX = f"""CREATE VIRTUAL TABLE document_search USING fts5(tokens, content='document_texts', content_rowid='id',
detail=none, columnsize=0, tokenize="ascii tokenchars '{_SIGNS}'")"""
_ADD = "INSERT INTO document_search (rowid, tokens) VALUES (new.id, new.tokens)"
_REMOVE = "INSERT INTO document_search (document_search, rowid, tokens) VALUES ('delete', old.id, old.tokens)"
_TRIGGERS = (
    f"CREATE TRIGGER document_texts_added AFTER INSERT ON document_texts BEGIN {_ADD}; END",
    f"CREATE TRIGGER document_texts_removed AFTER DELETE ON document_texts BEGIN {_REMOVE}; END",
    f"CREATE TRIGGER document_texts_changed AFTER UPDATE ON document_texts BEGIN {_REMOVE}; {_ADD}; END",
)
_NAMES = sa.text("SELECT id, project_id, name FROM documents WHERE id > :last ORDER BY id LIMIT :some")
_WORDS = sa.text(
    "SELECT pages.document_id, pages.number, words.text FROM pages JOIN words ON words.page_id = pages.id "
    "WHERE pages.document_id IN :ids AND words.retired_at IS NULL"
).bindparams(sa.bindparam("ids", expanding=True))

_FIGURES = """INSERT INTO document_figures
(document_id, person_id, project_id, pages, questions, accepted, compared)
SELECT d.id, '', d.project_id, (SELECT count(*) FROM pages p WHERE p.document_id = d.id),
    coalesce(q.questions, 0), coalesce(q.accepted, 0), coalesce(q.compared, 0)
FROM documents d LEFT JOIN (
    SELECT document_id, count(*) AS questions, sum(accepted) AS accepted, sum(accepted * compared) AS compared FROM (
        SELECT document_id, question_id, max(accepted) AS accepted, max(compared) AS compared FROM (
            SELECT document_id, question_id, CASE WHEN status IN ('accepted', 'fixed') THEN 1 ELSE 0 END AS accepted,
                0 AS compared FROM annotations
            WHERE status <> 'removed' AND document_id > :first AND document_id <= :last
            UNION ALL SELECT document_id, question_id, 0,
                CASE WHEN wanted > 1 OR gold_revision_id IS NOT NULL THEN 1 ELSE 0 END FROM tasks
            WHERE closed_at IS NULL AND document_id > :first AND document_id <= :last) AS every
        GROUP BY document_id, question_id) AS each_question
    GROUP BY document_id) AS q ON q.document_id = d.id
WHERE d.id > :first AND d.id <= :last"""
_PERSONS = """INSERT INTO document_figures
(document_id, person_id, project_id, pages, questions, accepted, compared)
SELECT a.document_id, a.author_id, a.project_id, 0, 0, 0, count(*)
FROM annotations a JOIN tasks t ON t.document_id = a.document_id AND t.question_id = a.question_id
WHERE a.document_id > :first AND a.document_id <= :last AND a.status IN ('submitted', 'accepted', 'fixed')
    AND t.closed_at IS NULL AND (t.wanted > 1 OR t.gold_revision_id IS NOT NULL)
    AND EXISTS (SELECT 1 FROM annotations o WHERE o.document_id = a.document_id AND o.question_id = a.question_id
        AND o.status IN ('accepted', 'fixed'))
GROUP BY a.document_id, a.author_id, a.project_id"""
_SUMS = """INSERT INTO project_figures (project_id, person_id, documents, pages, questions, accepted, compared)
SELECT project_id, person_id, sum(CASE WHEN person_id = '' THEN 1 ELSE 0 END), sum(pages), sum(questions),
    sum(accepted), sum(compared) FROM document_figures GROUP BY project_id, person_id"""
_DOCUMENTS_AT_ONCE = 2000


def upgrade() -> None:
    _upgrade_texts()
    _upgrade_figures()


def _upgrade_figures() -> None:
    numbers = ("pages", "questions", "accepted", "compared")
    op.create_table(
        "document_figures",
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("person_id", sa.String(32), nullable=False),
        sa.Column("project_id", sa.String(32), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in numbers),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name=op.f("fk_document_figures_document_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_document_figures_project_id")),
        sa.PrimaryKeyConstraint("document_id", "person_id", name=op.f("pk_document_figures")),
    )
    op.create_index("ix_document_figures_project_id", "document_figures", ["project_id"])
    op.create_table(
        "project_figures",
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("person_id", sa.String(32), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("documents", *numbers)),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_project_figures_project_id")),
        sa.PrimaryKeyConstraint("project_id", "person_id", name=op.f("pk_project_figures")),
    )
    first = ""
    while (
        ids := op.get_bind()
        .scalars(
            sa.text("SELECT id FROM documents WHERE id > :first ORDER BY id LIMIT :some"),
            {"first": first, "some": _DOCUMENTS_AT_ONCE},
        )
        .all()
    ):
        for statement in (_FIGURES, _PERSONS):
            op.get_bind().execute(sa.text(statement), {"first": first, "last": ids[-1]})
        first = ids[-1]
    op.execute(_SUMS)


def _upgrade_texts() -> None:
    postgresql = op.get_bind().dialect.name == "postgresql"
    op.create_table(
        "document_texts",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), nullable=False),
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Text().with_variant(TSVECTOR(), "postgresql"), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name=op.f("fk_document_texts_document_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document_texts")),
    )
    op.create_index("ix_document_texts_document_id_part", "document_texts", ["document_id", "part"])
    if not postgresql:
        for statement in (_INDEX, *_TRIGGERS):
            op.get_bind().exec_driver_sql(statement)
    _fill(postgresql)
    if postgresql:  # behind the rows: an index is made faster than it is filled
        op.create_index(
            "ix_document_texts_tokens", "document_texts", ["tokens"], postgresql_using="gin", postgresql_with=_LISTED
        )


def downgrade() -> None:
    op.drop_table("project_figures")
    op.drop_table("document_figures")
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE document_search")
    op.drop_table("document_texts")


def _fill(postgresql: bool) -> None:
    """Store the texts of the documents that are there, some at a time."""
    tokens = "array_to_tsvector(string_to_array(:tokens, ' '))" if postgresql else ":tokens"
    insert = sa.text(
        f"INSERT INTO document_texts (id, document_id, part, tokens) VALUES (:id, :document, :part, {tokens})"
    )
    last, alone, several = "", 0, 0
    while True:
        documents = op.get_bind().execute(_NAMES, {"last": last, "some": AT_ONCE}).all()
        if not documents:
            break
        rows = []
        texts = _texts([document_id for document_id, _, _ in documents])
        for document_id, project_id, name in documents:
            pieces = list(_pieces(_key_of(project_id), name, texts.get(document_id, {})))
            for part, piece in pieces:
                if len(pieces) > 1:
                    several += 1
                else:
                    alone += 1
                number = SEVERAL + several if len(pieces) > 1 else alone
                rows.append({"id": number, "document": document_id, "part": part, "tokens": piece})
        op.get_bind().execute(insert, rows)
        last = documents[-1].id
    if postgresql:
        op.execute(f"SELECT setval('document_texts_id_seq', {max(alone, several, 1)})")


def _texts(ids: list[str]) -> dict[str, dict[int, set[str]]]:
    """Return the texts of the words of documents, by document and part."""
    found: dict[str, dict[int, set[str]]] = {}
    for document_id, number, word in op.get_bind().execute(_WORDS, {"ids": ids}):
        found.setdefault(document_id, {}).setdefault((number - 1) // PART, set()).add(word)
    return found


def _pieces(key: str, name: str, parts: dict[int, set[str]]) -> Iterator[tuple[int, str]]:
    """Yield the rows of a document: part and tokens."""
    for part in sorted({0, *parts}):
        ends = {end for word in parts.get(part, ()) for end in _ends(word)}
        if part == 0:
            ends |= {word[at:] for word in _words(name) for at in range(len(word))}
        tokens = {key + end for end in ends}
        tokens |= {f"={key}{end[:length]}" for end in ends for length in range(1, SHORT + 1)}
        piece: list[str] = []
        size = 0
        for token in sorted(tokens):
            if size > MOST_BYTES:
                yield part, " ".join(piece)
                piece, size = [], 0
            piece.append(token)
            size += len(token.encode())
        yield part, " ".join(piece)


# What follows are the tokens as this version makes them: db.search_tokens may change later, and this may not.
_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
_BEGINNING = re.compile(r"(?<![a-z0-9])[a-z0-9]")
_CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), " ")
_UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3040, 0x30FF),
    (0x3400, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)


def _key_of(project_id: str) -> str:
    number = int.from_bytes(hashlib.blake2b(project_id.encode(), digest_size=8).digest(), "big")
    letters = []
    for _ in range(6):
        number, letter = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[letter])
    return "".join(letters)


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return [each[:LONGEST] for each in folded.translate(_CONTROLS).split()]


def _ends(text: str) -> Iterator[str]:
    for word in _words(text):
        yield word
        if word.isascii():
            yield from (word[each.start() :] for each in _BEGINNING.finditer(word, 1))
        else:
            yield from _ends_of_letters(word)


def _ends_of_letters(word: str) -> Iterator[str]:
    before = _is_letter(word[0])
    for at in range(1, len(word)):
        if _is_unspaced(word[at]):
            before = True
            if not unicodedata.category(word[at]).startswith("M"):
                yield word[at : at + LONGEST_UNSPACED]
            continue
        letter = _is_letter(word[at])
        if letter and (not before or _is_unspaced(word[at - 1])):
            yield word[at:]
        before = letter


def _is_letter(letter: str) -> bool:
    return unicodedata.category(letter)[0] in "LNM"


def _is_unspaced(letter: str) -> bool:
    return any(first <= ord(letter) <= last for first, last in _UNSPACED)
