"""The client needs httpx and pydantic, and nothing else of Glossator."""

import json
import subprocess
import sys

import grimp

from tests.support.repository import ROOT

ALLOWED = {"httpx", "pydantic", "typing_extensions"}  # the last one comes with pydantic
HEAVY = {
    "alembic",
    "fastapi",
    "gradio",
    "numpy",
    "pandas",
    "sqlalchemy",
    "starlette",
    "torch",
    "transformers",
    "uvicorn",
}


def test_importing_the_client_loads_no_other_part_of_glossator() -> None:
    command = "import json, sys; import engine.client; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(json.loads(run.stdout))
    assert {name.partition(".")[0] for name in loaded} & (HEAVY | {"annotator", "db", "migrations", "model"}) == set()
    ours = {name for name in loaded if name.startswith("engine.")}
    assert ours and all(f"{name}.".startswith("engine.client.") for name in ours)
    assert len(loaded) < 1000


def test_the_client_imports_httpx_and_pydantic_alone() -> None:
    """Read from the source, so that it holds for imports inside of functions, too."""
    graph = grimp.build_graph("engine", include_external_packages=True)
    for module in {"engine.client"} | graph.find_descendants("engine.client"):
        for imported in graph.find_modules_directly_imported_by(module):
            known = imported in ALLOWED or imported in sys.stdlib_module_names
            assert known or f"{imported}.".startswith("engine.client."), f"{module} imports {imported}"
