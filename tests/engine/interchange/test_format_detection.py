"""The format of a set is recognised by its files."""

from pathlib import Path

import pytest

from engine.accounts.users import ensure_local_user
from engine.errors import Refused
from engine.interchange.exports import export
from engine.interchange.format_detection import detect_format
from engine.interchange.imports import READERS, RECOGNISE, import_set
from engine.workspace import Workspace
from tests.support.factories import make_project
from tests.support.imported_sets import Answered, Exported, refused, take_in


@pytest.mark.parametrize("form", READERS)
def test_a_set_is_recognised_by_its_files(answered_on_file: Answered, tmp_path: Path, form: str) -> None:
    workspace, source = answered_on_file
    out = export(workspace, source, form, tmp_path / "out").folder
    assert detect_format(out) == form
    (out / "manifest.json").unlink()
    assert detect_format(out) == form
    _, done = take_in(workspace, RECOGNISE, out)
    assert done.form == form and done.pages == 3


def test_somebody_else_s_manifest_says_nothing(exported: tuple[Workspace, Exported]) -> None:
    _, folder = exported
    manifest = folder / "coco" / "manifest.json"
    for content in ('{"kind": "Dataset"}', "[" * 200_000, '{"format": "glossator-export/2", "kind": '):
        manifest.write_text(content)
        assert detect_format(folder / "coco") == "coco"
    grounded = folder / "grounded" / "pages.jsonl"
    assert detect_format(grounded) == "grounded"


def test_what_is_no_dataset_is_refused_and_so_is_what_holds_no_places(
    answered_on_file: Answered, tmp_path: Path
) -> None:
    workspace, source = answered_on_file
    out = export(workspace, source, "csv", tmp_path / "out").folder
    refused(workspace, RECOGNISE, out, "export as csv, which is incomplete and cannot be imported")
    (out / "manifest.json").unlink()
    refused(workspace, RECOGNISE, out, "its format was not recognised")


def test_an_unknown_format_is_refused(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    project = make_project(sqlite_workspace)
    with pytest.raises(Refused, match="no import format 'tiff'; choose from coco"):
        import_set(sqlite_workspace, project.id, "tiff", tmp_path, user_id=ensure_local_user(sqlite_workspace).id)
