"""The command line: one sentence where something cannot be, JSON on the last line for programs."""

import json
import time
from pathlib import Path

import pymupdf
import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from db import migrate
from db.blobs import sha256_of
from engine.cli import app
from engine.training import judging_files
from tests.support.made_documents import text_pdf
from tests.support.made_forms import office_form


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("GLOSSATOR_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)

    def command(*words: object, typed: str | None = None) -> Result:
        return CliRunner().invoke(app, [str(word) for word in words], input=typed)

    return command


def pdf(path: Path, text: str = "Invoice total 12.50") -> Path:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), text)
    document.save(path)
    return path


def last_line(result: Result) -> dict:
    return json.loads(result.stdout.strip().splitlines()[-1])


def test_ingest_ends_every_file_as_a_document_or_a_sentence(run, tmp_path: Path) -> None:
    pdf(tmp_path / "good.pdf")
    (tmp_path / "empty.pdf").write_bytes(b"")
    result = run("ingest", tmp_path / "good.pdf", tmp_path / "empty.pdf", tmp_path / "absent.pdf", "--json")
    assert result.exit_code == 0, result.output
    answer = last_line(result)
    assert (answer["documents"], answer["refused"]) == (1, 2)
    sentences = {row["name"]: row["sentence"] for row in answer["files"]}
    assert "is empty" in sentences["empty.pdf"]
    assert "No such file" in sentences["absent.pdf"]
    again = last_line(run("ingest", tmp_path / "good.pdf", "--json"))
    assert again["files"][0]["outcome"] == "already in the project"


def test_ingest_of_nothing_good_fails(run, tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.5 broken")
    result = run("ingest", tmp_path / "broken.pdf")
    assert result.exit_code == 1
    assert "damaged" in result.output.replace("\n", " ")


def test_a_folder_is_read_with_what_is_in_it(run, tmp_path: Path) -> None:
    (tmp_path / "in" / "deeper").mkdir(parents=True)
    pdf(tmp_path / "in" / "a.pdf", "one")
    pdf(tmp_path / "in" / "deeper" / "b.pdf", "two")
    assert last_line(run("ingest", tmp_path / "in", "--json"))["documents"] == 2


def test_ask_answers_from_a_shell(run, tmp_path: Path) -> None:
    run("ingest", pdf(tmp_path / "a.pdf"))
    answer = last_line(run("ask", "a.pdf", "What is the total?", "--json"))
    assert answer["question"]["text"] == "What is the total?"
    assert answer["proposal"]["model"]["label"] == "nano"
    missing = run("ask", "b.pdf", "What is the total?")
    assert missing.exit_code == 1 and "has no document" in missing.output


def test_people_of_single_sign_on_are_linked_by_command(run) -> None:
    assert run("users", "add", "ann", typed="long enough pw\nlong enough pw\n").exit_code == 0
    assert "No provider is set" in run("users", "link", "ann", "7").output
    assert "7 of proxy now signs in as ann" in run("users", "link", "ann", "7", "--proxy").output
    assert run("users", "link", "local", "7", "--proxy").exit_code == 1
    assert "Nobody signs in as ann" in run("users", "unlink", "ann").output
    assert run("users", "unlink", "ann").exit_code == 1


def test_projects_users_and_schema(run) -> None:
    assert run("projects", "create", "bills").exit_code == 0
    taken = run("projects", "create", "bills")
    assert taken.exit_code == 1 and "is taken" in taken.output
    assert "retrain_after = 7" in run("projects", "set", "bills", "--retrain-after", 7).output
    wrong = run("projects", "set", "bills", "--promotion", "sometimes")
    assert wrong.exit_code == 1 and "promotion" in wrong.output
    assert [row["name"] for row in last_line(run("projects", "list", "--json"))["projects"]] == ["bills"]
    short = run("users", "add", "ann", "--role", "admin", typed="short\nshort\n")
    assert short.exit_code == 1 and "at least" in short.output
    good = run("users", "add", "ann", "--role", "admin", typed="long enough pw\nlong enough pw\n")
    assert good.exit_code == 0, good.output
    assert [user["name"] for user in last_line(run("users", "list", "--json"))["users"]] == ["ann", "local"]
    assert f"at {migrate.head()}, newest {migrate.head()}" in run("db", "current").output
    assert run("db", "downgrade", "base", typed="n\n").exit_code == 1


def test_serve_refuses_other_addresses_without_login(run) -> None:
    result = run("serve", "--host", "0.0.0.0")
    assert result.exit_code == 2
    assert "GLOSSATOR_AUTH=login" in result.output.replace("\n", " ")


def test_a_broken_setting_is_named(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOSSATOR_PORT", "many")
    result = run("projects", "list")
    assert result.exit_code == 2 and "GLOSSATOR_PORT" in result.output


def test_a_broken_entry_of_a_setting_is_named_with_its_variable(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOSSATOR_GROUP_ROLES", '{"it": "chief"}')
    result = run("projects", "list")
    assert result.exit_code == 2 and "GLOSSATOR_GROUP_ROLES (it): Input should be 'admin'" in result.output


@pytest.mark.parametrize(
    ("name", "text"),
    [("ALLOWED_HOSTS", '["a.example.org"'), ("BLOBS_OPTIONS", "secret-key"), ("GROUP_ROLES", "{it: admin}")],
)
def test_a_list_or_object_that_is_none_is_named_without_its_text(name: str, text: str, run, monkeypatch) -> None:
    monkeypatch.setenv(f"GLOSSATOR_{name}", text)
    result = run("projects", "list")
    assert result.exit_code == 2 and f"GLOSSATOR_{name}: This is not a" in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert text not in result.output


def test_synth_writes_the_same_pages_for_the_same_seed(run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert last_line(run("synth", tmp_path / name, "--pages", 3, "--seed", 5, "--json"))["pages"] == 3
    assert (tmp_path / "one" / "pages.jsonl").read_bytes() == (tmp_path / "two" / "pages.jsonl").read_bytes()
    assert len(list((tmp_path / "one" / "images").iterdir())) == 3
    assert run("synth", tmp_path / "one").exit_code == 1


def test_synth_puts_its_pages_on_a_contact_sheet(run, tmp_path: Path) -> None:
    sheet = tmp_path / "looked at" / "sheet.png"
    made = run("synth", tmp_path / "made", "--pages", 4, "--no-images", "--sheet", sheet)
    assert made.exit_code == 0, made.output
    with Image.open(sheet) as picture:
        assert picture.width > 3 * 320
    assert not (tmp_path / "made" / "images").exists()
    refused = run("synth", tmp_path / "more", "--sheet", tmp_path / "sheet.pdf")
    assert refused.exit_code == 1 and "must end in .png" in refused.output
    assert not (tmp_path / "more").exists()


def test_synth_fills_the_forms_of_a_folder(run, tmp_path: Path) -> None:
    office_form().save(tmp_path / "forms" / "office.pdf")
    for name in ("one", "two"):
        made = run("synth", tmp_path / name, "--pages", 3, "--seed", 5, "--forms", tmp_path / "forms", "--json")
        assert last_line(made)["questions"] > 6
    assert (tmp_path / "one" / "pages.jsonl").read_bytes() == (tmp_path / "two" / "pages.jsonl").read_bytes()
    assert len(list((tmp_path / "one" / "images").iterdir())) == 3
    refused = run("synth", tmp_path / "more", "--forms", tmp_path / "one")
    assert refused.exit_code == 1 and "has no PDF files" in refused.output
    assert not (tmp_path / "more").exists()


def test_pretrain_refuses_forms_that_no_stage_would_use(run, tmp_path: Path) -> None:
    refused = run("pretrain", tmp_path / "out", "--stages", "regions", "--forms", tmp_path)
    assert refused.exit_code == 2 and "stages words, practice, ranking and region_ranking" in refused.output
    refused = run("pretrain", tmp_path / "out", "--stages", "words=1", "--forms", tmp_path)
    assert refused.exit_code == 1 and "has no PDF files" in refused.output


def test_pretrain_learns_nothing_from_a_set_that_judges(run, tmp_path: Path, monkeypatch) -> None:
    labelled = tmp_path / "labelled"
    refused = run("pretrain", tmp_path / "out", "--stages", "practice=1", "--labelled", labelled)
    assert refused.exit_code == 2 and "does not exist" in refused.output
    labelled.mkdir()
    (labelled / "pages.jsonl").write_text("{}\n", encoding="utf-8")
    digest = sha256_of(labelled / "pages.jsonl")
    monkeypatch.setattr(judging_files, "judging_files", lambda: {digest: "forms/pages.jsonl"})
    refused = run("pretrain", tmp_path / "out", "--stages", "practice=1", "--labelled", labelled)
    assert refused.exit_code == 1 and "judges the model" in refused.output
    assert not (tmp_path / "out").exists()


def test_pretrain_reads_a_corpus_once_and_says_what_it_left_out(run, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    refused = run("pretrain", tmp_path / "out", "--stages", "words=1", "--corpus", papers)
    assert refused.exit_code == 2 and "--corpus and --project are for the stages" in refused.output
    refused = run("pretrain", tmp_path / "out", "--stages", "mlm=1", "--corpus", papers, "--teacher", tmp_path)
    assert refused.exit_code == 1 and "has no PDF and no picture" in refused.output
    text_pdf(papers / "one.pdf")
    (papers / "broken.pdf").write_bytes(b"%PDF-1.7 nothing follows")
    refused = run("pretrain", tmp_path / "out", "--stages", "mlm=1", "--corpus", papers, "--teacher", tmp_path)
    assert "broken.pdf" in refused.output and "Corpus: 1 page of 1 document." in refused.output
    # The run never began, so its list of pages does not bind the next call.
    text_pdf(papers / "two.pdf", [["Another page with other words"]])
    refused = run("pretrain", tmp_path / "out", "--stages", "mlm=1", "--corpus", papers, "--teacher", tmp_path)
    assert "Corpus: 2 pages of 2 documents." in refused.output
    refused = run("pretrain", tmp_path / "out", "--stages", "mlm=1,spans", "--corpus", papers, "--teacher", tmp_path)
    assert "Only some stages have steps" in refused.output and "Corpus" not in refused.output


def test_the_samples_are_three_documents_once(sqlite_workspace) -> None:
    from engine.commands.servers.samples import add_samples, typeset

    assert add_samples(sqlite_workspace) == 3
    assert add_samples(sqlite_workspace) == 0
    first = typeset("letter")
    time.sleep(1.1)  # a PDF that carried the time of day would differ now
    assert typeset("letter") == first


def test_people_from_a_shell(run) -> None:
    run("projects", "create", "bills")
    assert run("users", "add", "ann", typed="long enough pw\nlong enough pw\n").exit_code == 0
    assert "ann is reviewer in bills." in run("projects", "members", "add", "bills", "ann", "--role", "reviewer").output
    listed = last_line(run("projects", "members", "list", "bills", "--json"))["members"]
    assert [(one["name"], one["role"]) for one in listed] == [("ann", "reviewer")]
    made = last_line(run("projects", "invite", "bills", "--days", 2, "--json"))
    assert made["url"].startswith("http://127.0.0.1:7860/invite/") and "token" not in made
    assert "Invitation withdrawn." in run("projects", "withdraw", made["id"]).output
    states = [one["state"] for one in last_line(run("projects", "invitations", "bills", "--json"))["invitations"]]
    assert states == ["withdrawn"]
    assert last_line(run("users", "sessions", "ann", "--json")) == {"sessions": []}
    assert "All sessions of ann ended" in run("users", "revoke", "ann").output
    assert run("users", "revoke", "ann", "no-such-session").exit_code == 1
    assert "is now admin" in run("users", "role", "ann", "admin").output
    assert run("users", "password", "ann", typed="another long pw\nanother long pw\n").exit_code == 0
    assert "is disabled" in run("users", "disable", "ann").output
    assert "ann  admin  (disabled)" in run("users", "list").output
    assert "ann is enabled" in run("users", "enable", "ann").output
    assert run("users", "disable", "local").exit_code == 1
    assert "was removed from bills" in run("projects", "members", "remove", "bills", "ann").output
    told = [line["what"] for line in last_line(run("audit", "--project", "bills", "--json"))["entries"]]
    assert told[0] == "removed ann, who was reviewer" and told[-1] == "created the project bills"
    assert "disabled the user ann" in run("audit").output
