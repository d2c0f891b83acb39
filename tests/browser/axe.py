"""axe-core on the open page: what people who cannot see it, or have no mouse, would stumble over."""

import shutil
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.conftest import needed
from tests.support.repository import ROOT

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
_RUN = """async (rules) => {
  const { violations } = await axe.run(document, {
    resultTypes: ['violations'],
    rules: Object.fromEntries(rules.map((rule) => [rule, { enabled: false }])),
  });
  return violations;
}"""


def violations(page: Page, *, but: tuple[str, ...] = ()) -> list[str]:
    """Run every rule of axe-core, best practices included, on what the page shows now.

    Args:
        page: page of a browser; transitions must have ended, for colours are measured.
        but: rules to leave out.

    Returns:
        One line for each violation, with its rule, its sentence and up to three elements; empty when there is none.
    """
    if not AXE.is_file():
        if shutil.which("npm"):
            pytest.fail("axe-core is not installed: run `npm ci` in the repository.")
        needed("Tests of accessibility need Node.js with npm, which installs axe-core.")
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate(_RUN, list(but))
    return [_said(one) for one in found]


def _said(violation: dict[str, Any]) -> str:
    nodes = violation["nodes"]
    checks = [check for kind in ("any", "all", "none") for check in nodes[0][kind]]
    why = checks[0]["message"] if checks else violation["help"]
    where = ", ".join(" ".join(map(str, node["target"])) for node in nodes[:3])
    return f"{violation['id']} ({len(nodes)}): {why} At {where}"
