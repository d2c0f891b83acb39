"""`make test-changed` runs the tests that lie nearest to a change, and names what it leaves out."""

import fnmatch
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.changed_tests import BY_PLACE, LONG, OF_EVERYTHING, Choice, choose, is_test, known_files
from tests.support.file_seconds import recorded_seconds
from tests.support.import_graph import ImportGraph
from tests.support.repository import ROOT

SMALL = {
    "db/tables.py": "",
    "engine/__init__.py": "",
    "engine/gate.py": "from db import tables\n",
    "engine/optim/__init__.py": "from engine.optim.steps import (\n    step,  #\n)\nfrom engine.optim.rates import r\n",
    "engine/optim/steps.py": "def step(): ...\n",
    "engine/optim/rates.py": "def rate(): ...\n",
    "engine/child.py": "def main():\n    import engine.gate as gate\n",
    "engine/words.py": "if TYPE_CHECKING:\n    from db import tables\n\nWORDS = 'data/list.json'\n",
    "engine/data/list.json": "[]",
    "annotator/static/canvas/mask.js": "import { area } from '../core/box.js';\n",
    "annotator/static/core/box.js": "export const area = 1;\n",
    "tests/conftest.py": "from db import tables\n",
    "tests/engine/test_gate.py": "from engine.gate import passes\n",
    "tests/engine/test_other.py": "from engine import gate\n",
    "tests/engine/test_steps.py": "from engine.optim import step\n",
    "tests/engine/test_start.py": "COMMAND = ['-m', 'engine.child']\n",
    "tests/engine/test_words.py": "from engine.words import WORDS\n",
    "tests/long/test_loop.py": "from engine import gate\n",
    "tests/browser/test_canvas.py": "",
    "tests/static/canvas/mask.spec.js": "const mask = await import('../../../annotator/static/canvas/mask.js');\n",
}


@pytest.fixture
def small(tmp_path: Path) -> ImportGraph:
    """A repository of some files."""
    for path, text in SMALL.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        if not (tmp_path / path).is_dir():
            (tmp_path / path).write_text(text)
    return ImportGraph(tmp_path, SMALL)


def chosen(
    graph: ImportGraph, *changed: str, seconds: Mapping[str, float] | None = None, budget: float = 100
) -> Choice:
    return choose(changed, graph, seconds or {}, budget)


def test_direct_importers_run_and_one_named_after_the_file_comes_first(small: ImportGraph) -> None:
    files = chosen(small, "engine/gate.py").files
    assert list(files) == ["tests/engine/test_gate.py", "tests/engine/test_other.py", "tests/engine/test_start.py"]
    assert files["tests/engine/test_start.py"] == 2  # a command names a module that imports the changed one


def test_a_name_leads_through_a_package_to_where_it_is_defined(small: ImportGraph) -> None:
    assert chosen(small, "engine/optim/steps.py").files == {"tests/engine/test_steps.py": 1}
    assert chosen(small, "engine/optim/rates.py").files == {"tests/engine/test_steps.py": 2}  # by the package alone


def test_a_conftest_is_needed_by_all_tests_below_it(small: ImportGraph) -> None:
    files = set(chosen(small, "tests/conftest.py").files)
    assert files == {path for path in SMALL if is_test(path) and not path.startswith(LONG)}


def test_types_alone_need_nothing_and_a_named_file_of_data_counts(small: ImportGraph) -> None:
    assert small.needs["engine/words.py"] == {"engine/data/list.json"}
    assert chosen(small, "engine/data/list.json").files == {"tests/engine/test_words.py": 2}


def test_scripts_reach_their_specs_by_imports_and_browser_tests_by_their_folder(small: ImportGraph) -> None:
    choice = chosen(small, "annotator/static/core/box.js")
    assert choice.specs == ["tests/static/canvas/mask.spec.js"]
    assert chosen(small, "annotator/static/canvas/mask.js").files == {"tests/browser/test_canvas.py": 1}


def test_the_budget_keeps_the_nearest_and_counts_the_others(small: ImportGraph) -> None:
    seconds = {"tests/engine/test_gate.py": 6.0, "tests/engine/test_other.py": 5.0, "tests/engine/test_start.py": 4.0}
    choice = chosen(small, "engine/gate.py", seconds=seconds, budget=10)
    assert choice.files == {"tests/engine/test_gate.py": 1, "tests/engine/test_start.py": 2}
    assert choice.left_out == {"tests/engine/test_other.py": 1}
    assert chosen(small, "tests/engine/test_gate.py", seconds=seconds, budget=1).files == {
        "tests/engine/test_gate.py": 0
    }


def test_long_tests_and_files_without_a_test_are_named_and_not_run(small: ImportGraph) -> None:
    choice = chosen(small, "tests/long/test_loop.py", "engine/gone.py", "engine/child.py")
    assert choice.long == ["tests/long/test_loop.py"]
    assert choice.unknown == ["engine/gone.py"]
    assert list(choice.files) == ["tests/engine/test_start.py"]


def test_seconds_of_earlier_runs_are_read_where_there_are_some(tmp_path: Path) -> None:
    assert recorded_seconds(tmp_path) == {}
    stored = tmp_path / ".pytest_cache" / "v" / "glossator" / "file_seconds"
    stored.parent.mkdir(parents=True)
    stored.write_text(json.dumps({"tests/test_docs.py": 3}))
    assert recorded_seconds(tmp_path) == {"tests/test_docs.py": 3.0}
    stored.write_text("cut sho")
    assert recorded_seconds(tmp_path) == {}


def test_files_of_this_repository_reach_the_tests_that_a_reader_expects() -> None:
    graph = ImportGraph(ROOT, known_files())
    for changed, test in (
        ("engine/training/retraining/gate.py", "tests/engine/training/test_gate.py"),
        ("model/masks.py", "tests/model/test_masks.py"),
        ("engine/documents/reading/child.py", "tests/engine/documents/test_ocr.py"),
        ("docs/manage.md", "tests/test_docs.py"),
        ("migrations/env.py", "tests/db/test_database.py"),
    ):
        choice = choose([changed], graph, {})
        assert test in choice.files or test in choice.left_out, changed
    assert choose(["annotator/static/canvas/mask.js"], graph, {}).specs
    everything = {path for path in graph.files if is_test(path) and not path.startswith(LONG)}
    common = choose(["db/base.py"], graph, {})
    assert len(common.files) < len(everything) / 2 and len(common.left_out) > len(everything) / 2


def test_every_rule_by_place_names_files_that_are_there() -> None:
    files = known_files()
    for pattern, tests in BY_PLACE.items():
        assert fnmatch.filter(files, pattern), pattern
        assert all(fnmatch.filter(files, test) for test in tests), tests
    assert set(OF_EVERYTHING) <= set(files)
