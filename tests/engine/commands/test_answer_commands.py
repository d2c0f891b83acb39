"""Documents and answers from a shell: what the page does, without the page."""

import json
from contextlib import closing
from pathlib import Path

import pymupdf
import pytest
from sqlalchemy import update
from typer.testing import CliRunner, Result

from db.tables import RemovedDocument
from engine import blob_turns
from engine.cli import app
from engine.datasets import snapshots
from engine.projects.projects import project_named
from engine.settings import Settings
from engine.workspace import open_workspace


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("GLOSSATOR_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)

    def command(*words: object) -> Result:
        return CliRunner().invoke(app, [str(word) for word in words])

    return command


@pytest.fixture
def answer(run, tmp_path: Path) -> str:
    """Id of a fresh answer of an ingested invoice."""
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 90), "Invoice date: 14 March 2026")
    page.insert_text((72, 130), "Total due: 2,987.88 EUR or 2,987.88 CHF")
    document.save(tmp_path / "invoice.pdf")
    assert run("ingest", tmp_path / "invoice.pdf").exit_code == 0
    return said(run("ask", "invoice.pdf", "What is the total due?", "--json"))["id"]


def said(result: Result) -> dict:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout.strip().splitlines()[-1])


def test_documents_and_answers_are_listed(run, answer: str) -> None:
    [listed] = said(run("documents", "list", "--json"))["documents"]
    assert (listed["name"], listed["pages"], listed["questions"]) == ("invoice.pdf", 1, 1)
    shown = said(run("documents", "show", "invoice.pdf", "--json"))
    assert shown["pages"][0]["number"] == 1
    [line] = said(run("answers", "list", "invoice.pdf", "--json"))["answers"]
    assert line["id"] == answer and line["status"] == "draft"
    assert "invoice.pdf" in run("documents", "list").stdout and "draft" in run("answers", "list", listed["id"]).stdout
    assert "What is the total due?" in run("answers", "show", answer).stdout


def test_an_answer_is_corrected_accepted_and_taken_back(run, answer: str) -> None:
    marked = said(run("answers", "mark", answer, "--text", "2,987.88 EUR", "--json"))
    assert (marked["text"], marked["status"], marked["revision"]) == ("2,987.88 EUR", "draft", 1)
    numbers = said(run("answers", "mark", answer, "--words", "7", "--json"))
    assert numbers["text"] == "2,987.88"
    assert said(run("answers", "accept", answer, "--json"))["status"] == "accepted"
    assert said(run("documents", "list", "--json"))["documents"][0]["accepted"] == 1
    assert said(run("answers", "reopen", answer, "--json"))["status"] == "draft"
    assert said(run("answers", "none", answer, "--json")) == {
        "annotation_id": answer,
        "revision": 5,
        "status": "accepted",
        "no_answer": True,
        "text": "",
    }


def test_an_answer_is_removed_and_restored(run, answer: str) -> None:
    told = run("answers", "remove", answer)
    assert told.exit_code == 0 and f"glossator answers restore {answer}" in told.stdout
    assert said(run("answers", "remove", answer, "--json")) == {"annotation_id": answer, "removed": True}
    assert said(run("answers", "list", "invoice.pdf", "--json"))["answers"] == []
    [line] = said(run("answers", "list", "invoice.pdf", "--removed", "--json"))["answers"]
    assert (line["id"], line["status"]) == (answer, "draft")
    assert "This answer was removed." in run("answers", "show", answer).output
    assert said(run("answers", "restore", answer, "--json"))["status"] == "draft"
    assert said(run("answers", "list", "invoice.pdf", "--removed", "--json"))["answers"] == []


def test_a_point_lets_the_model_answer_again(run, answer: str) -> None:
    before = said(run("answers", "mark", answer, "--text", "14", "--json"))
    assert before["text"] == "14"
    state = said(run("answers", "show", answer, "--json"))["state"]
    [mark] = state["pages"].values()
    x0, y0, x1, y1 = mark["mask"]["box"]
    refined = said(run("answers", "refine", answer, "--point", f"{(x0 + x1) / 2},{(y0 + y1) / 2}", "--json"))
    assert "14" in refined["text"] and refined["revision"] == 2
    shown = said(run("answers", "show", answer, "--json"))
    assert next(iter(shown["state"]["pages"].values()))["points"] == [[(x0 + x1) / 2, (y0 + y1) / 2, True]]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("answers", "mark", "ANSWER", "--text", "2,987.88"), "occur 2 times on this page; use --words"),
        (("answers", "mark", "ANSWER", "--text", "nowhere"), "do not occur on this page"),
        (("answers", "mark", "ANSWER"), "No words are given"),
        (("answers", "mark", "ANSWER", "--words", "seven"), "is invalid"),
        (("answers", "mark", "ANSWER", "--words", "4000"), "has no word 4000"),
        (("answers", "mark", "ANSWER", "--text", "Total", "--page", "2"), "has no page 2. Choose 1 to 1."),
        (("answers", "refine", "ANSWER"), "No point or box is given"),
        (("answers", "refine", "ANSWER", "--point", "here"), "is invalid"),
        (("answers", "refine", "ANSWER", "--box", "1,2,3"), "four whole numbers"),
        (("answers", "accept", "nothing"), "no such annotation"),
        (("answers", "accept", "ANSWER", "--as", "nobody"), "There is no user 'nobody'"),
        (("answers", "list", "other.pdf"), "no document 'other.pdf'"),
        (("documents", "show", "other.pdf"), "no document 'other.pdf'"),
    ],
)
def test_what_cannot_be_is_one_sentence(run, answer: str, words: tuple[str, ...], sentence: str) -> None:
    result = run(*(answer if word == "ANSWER" else word for word in words))
    assert result.exit_code == 1, result.output
    assert sentence in " ".join(result.stderr.split())


def test_status_says_where_the_data_lies_and_what_waits(run, answer: str) -> None:
    found = said(run("status", "--json"))
    [project] = found["projects"]
    assert (project["name"], project["documents"], project["accepted"], project["model"]) == ("default", 1, 0, "nano")
    assert found["database"].startswith("sqlite") and found["schema"]
    shown = run("status").stdout
    assert "default" in shown and "nano" in shown


def test_a_document_is_removed_and_restored(run, answer: str) -> None:
    [document] = said(run("documents", "list", "--json"))["documents"]
    assert said(run("documents", "remove", "invoice.pdf", "--json"))["documents"] == [document["id"]]
    assert said(run("documents", "list", "--json"))["documents"] == []
    [line] = said(run("bin", "list", "--json"))["documents"]
    assert (line["name"], line["answers"]) == ("invoice.pdf", 1)
    assert "invoice.pdf" in run("bin", "list").stdout
    assert said(run("documents", "traces", "invoice.pdf", "--json"))["traces"] == []
    assert "The bin has no document 'x.pdf'" in run("bin", "restore", "x.pdf").stderr
    assert said(run("bin", "restore", "invoice.pdf", "--json"))["documents"] == [document["id"]]
    assert said(run("documents", "list", "--json"))["documents"] == [document]
    assert run("documents", "traces", "invoice.pdf").stdout.startswith("Nothing holds it")
    assert run("bin", "list").stderr == "The bin is empty.\n"
    run("documents", "remove", "invoice.pdf")
    with (
        closing(open_workspace(Settings(_env_file=None))) as workspace,
        blob_turns.turn(workspace.database, "backup of a test"),
    ):
        waiting = run("bin", "empty", "--yes").stdout
    assert waiting.startswith("Deleted 0 documents for good.\n1 document cannot be restored any more, and waits for a")
    assert "backup of a test" in waiting and run("bin", "list").stderr == "The bin is empty.\n"
    gone = {"documents": [document["id"]], "waits": [], "stays": [], "overwritten": True}
    assert said(run("bin", "empty", "--yes", "--json")) == gone
    assert run("bin", "empty", "--yes").stdout == "Deleted 0 documents for good.\n"


def test_a_document_that_was_frozen_after_the_choice_stays_in_the_bin(run, answer: str) -> None:
    assert run("answers", "accept", answer).exit_code == 0
    with closing(open_workspace(Settings(_env_file=None))) as workspace:
        snapshots.freeze(workspace, project_named(workspace, "default").id)
        run("documents", "remove", "invoice.pdf")
        with workspace.database.write() as session:
            session.execute(update(RemovedDocument).values(erasing=True))
    emptied = said(run("bin", "empty", "--yes", "--json"))
    stays = "1 document stays in the bin: what was frozen meanwhile holds it."
    assert (emptied["documents"], emptied["waits"], emptied["stays"]) == ([], [], [stays])


def test_the_file_of_a_document_is_written_as_it_was_uploaded(run, answer: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy.pdf"
    assert said(run("documents", "original", "invoice.pdf", copy, "--json"))["file"] == str(copy)
    assert copy.read_bytes() == (tmp_path / "invoice.pdf").read_bytes()
    assert "exists. Name a new file." in run("documents", "original", "invoice.pdf", copy).stderr
