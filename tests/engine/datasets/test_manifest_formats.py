"""Snapshots of older formats are read for ever, and the newest format holds what they held."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.datasets import snapshots
from engine.datasets.frozen_words import WordsReader, words_of
from engine.datasets.manifest import (
    canonical,
    items_of,
    left_out_count,
    left_out_of,
    parts_of,
    people_of,
    read_head,
    revisions_of,
    weights_of,
)
from engine.errors import Refused
from engine.training.sources.corpus import corpus_of
from engine.workspace import Workspace
from tests.support.factories import accept, bill, make_bills, make_document, make_project

# The files of a snapshot by SHA-256, as the release before format 4 stored them: two documents, one on two pages, with
# five answers, of which one is left out as unfit and one passed over for another person's.
STORED = Path(__file__).with_name("snapshot_format_3.json")


@pytest.fixture
def third(workspace: Workspace) -> str:
    """The stored snapshot of format 3; returns its SHA-256."""
    stored: dict[str, Any] = json.loads(STORED.read_text())
    assert {workspace.blobs.put(content.encode()) for content in stored["files"].values()} == set(stored["files"])
    return str(stored["snapshot"])


def test_a_stored_snapshot_of_format_3_is_read_as_before(workspace: Workspace, third: str) -> None:
    items = list(items_of(workspace, third))
    said = [(one.document.name, one.document.split, one.question, one.author, one.weight) for one in items]
    assert said == [
        ("first.png", "train", "What is the total due?", "Ben", 1.0),
        ("first.png", "train", "Where is the stamp?", "Ann", 1.0),
        ("second.png", "frozen", "Is it paid?", "Ann", 1.0),
    ]
    first, second = items[0].document, items[2].document
    reader = WordsReader(workspace)
    texts = [" ".join(word.text for word in reader.of(page)) for page in (*first.pages, *second.pages)]
    assert texts == ["Total due: 7.00", "The end", 'Paid é "quoted"']
    [left] = left_out_of(workspace, third)
    assert (left.document, left.question, left.reasons) == ("first.png", "All of it?", ("most_of_the_page",))
    assert left_out_count(workspace, third) == 1
    assert len(list(revisions_of(workspace, third))) == len(set(revisions_of(workspace, third))) == 5
    assert people_of(workspace, third)["Ann"] == {"comparisons": 1, "gold_questions": 0, "reliability": 1.0}
    assert weights_of(workspace, third) == {"Ann": (2, 2.0), "Ben": (1, 1.0)}
    corpus = corpus_of(workspace, third)
    assert [len(page.questions) for page in corpus.pages] == [2, 1]
    assert [word.text for word in corpus.pages[0].words] == ["Total", "due:", "7.00"]


def test_formats_1_to_3_and_the_newest_one_hold_the_same_answers(workspace: Workspace) -> None:
    project = make_project(workspace)
    make_bills(workspace, project.id, {"train": 1}, questions=2)
    now = snapshots.freeze(workspace, project.id).sha256
    items = list(items_of(workspace, now))
    [part] = parts_of(workspace, now)
    documents = [
        {
            **{name: value for name, value in document.items() if name != "pages"},
            "pages": [_older(workspace, items[0].document.pages[at], row) for at, row in enumerate(document["pages"])],
        }
        for document in part["documents"]
    ]
    third_part = workspace.blobs.put(canonical({**part, "documents": documents, "left_out": []}))
    head = {"project_id": project.id, "people": {}}
    third = workspace.blobs.put(canonical({**head, "format": "glossator-snapshot/3", "parts": [third_part]}))
    second = workspace.blobs.put(
        canonical({**head, **part, "format": "glossator-snapshot/2", "documents": documents, "left_out": []})
    )
    for sha256 in (third, second):
        older = list(items_of(workspace, sha256))
        assert [(one.revision_id, one.state, one.weight) for one in older] == [
            (one.revision_id, one.state, one.weight) for one in items
        ]
        assert corpus_of(workspace, sha256) == corpus_of(workspace, now)
        assert set(revisions_of(workspace, sha256)) == set(revisions_of(workspace, now))
        assert weights_of(workspace, sha256) == weights_of(workspace, now)
    unweighed = [{name: value for name, value in item.items() if name != "weight"} for item in part["items"]]
    old = {"format": "glossator-snapshot/1", "project_id": project.id, "documents": documents, "items": unweighed}
    first = workspace.blobs.put(canonical(old))
    assert [(item.question, item.weight) for item in items_of(workspace, first)] == [
        (item["question"], 1.0) for item in part["items"]
    ]
    assert not list(left_out_of(workspace, first)) and people_of(workspace, first) == {}
    assert corpus_of(workspace, first).weights == {}


def _older(workspace: Workspace, page: Any, row: dict[str, Any]) -> dict[str, Any]:
    """A page as manifests up to format 3 had it, with a blob of its words."""
    words = [
        {"number": word.number, "text": word.text, "box": list(word.box), "line": word.line}
        for word in words_of(workspace, page)
    ]
    kept = {name: value for name, value in row.items() if name != "words"}
    return {**kept, "words_sha256": workspace.blobs.put(canonical(words))}


def test_files_of_unknown_formats_are_refused(workspace: Workspace) -> None:
    project = make_project(workspace)
    accept(workspace, make_document(workspace, project.id, [bill(1)]), "What is the total due?", [4])
    unknown = workspace.blobs.put(canonical({"format": "glossator-snapshot/9"}))
    with pytest.raises(Refused, match="format that this version cannot read"):
        read_head(workspace, unknown)
    sha256 = snapshots.freeze(workspace, project.id).sha256
    [item] = items_of(workspace, sha256)
    [page] = item.document.pages
    other = workspace.blobs.put(canonical({"format": "glossator-words/9", "pages": [page.id]}) + b"\n[]")
    with pytest.raises(Refused, match=r"words .* format that this version cannot read"):
        words_of(workspace, type(page)(page.id, 1, 1, 1, "", "", other))
