"""axe-core on the open page, and the size of targets: what people without eyes, mouse or steady hand stumble over."""

import shutil
from collections.abc import Sequence
from typing import Any, Literal

import pytest
from playwright.sync_api import Page

from tests.conftest import needed
from tests.support.repository import ROOT

NARROW = (390, 844)
SIZES = [(1400, 900), NARROW]
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
_RUN = """async (rules) => {
  const { violations } = await axe.run(document, {
    resultTypes: ['violations'],
    rules: Object.fromEntries(rules.map((rule) => [rule, { enabled: false }])),
  });
  return violations;
}"""

# What can be pressed and is smaller than 24 pixels in width or height (WCAG 2.2, 2.5.8), links in sentences aside. The
# label of a box belongs to it; what is clipped to a pixel is for screen readers.
_SMALL = """() => [...document.querySelectorAll('button, a[href], input, select, textarea, summary, [role=tab]')]
  .filter((each) => !each.disabled && each.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
  .filter((each) => !each.matches('p a, li a, span a, dd a, .glossator-notice :is(a, button)'))
  .map((each) => each.matches('[type=checkbox], [type=radio]') ? each.closest('label') ?? each : each)
  .map((each) => [each, each.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 2 && height > 2 && Math.min(width, height) < 23.5)
  .map(([each, { width, height }]) => `${Math.round(width)} x ${Math.round(height)}: ${each.outerHTML.slice(0, 99)}`)"""

# The page follows the theme: so does the class that Gradio's own colours hang on.
_SHOWN = """(dark) => matchMedia('(prefers-color-scheme: dark)').matches === dark
  && document.body.classList.contains('dark') === dark"""


def found_on(page: Page, what: str, sizes: Sequence[tuple[int, int]] = SIZES) -> list[str]:
    """Run axe-core on a screen in all sizes, light and dark.

    Args:
        page: page of a browser.
        what: what is open, for the lines that are returned.
        sizes: width and height of the window, in CSS pixels.

    Returns:
        One line for each violation; empty when there is none.
    """
    page.locator(".g-toast [aria-label=Dismiss]").evaluate_all("(all) => all.forEach((each) => each.click())")
    found, before = [], page.viewport_size
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function("(width) => innerWidth === width", arg=width)
        found += [f"{what}, {width}, small target: {target}" for target in page.evaluate(_SMALL)]
        for theme in THEMES:
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            page.wait_for_function(_SHOWN, arg=theme == "dark")
            found += [f"{what}, {width}, {theme}: {line}" for line in violations(page)]
    assert before
    page.set_viewport_size(before)
    return found


def violations(page: Page, *, but: tuple[str, ...] = ()) -> list[str]:
    """Run every rule of axe-core, best practices included, on what the page shows now.

    Args:
        page: page of a browser. Its transitions are turned off, for colours are measured.
        but: rules to leave out.

    Returns:
        One line for each violation, with its rule, its sentence and up to three elements; empty when there is none.
    """
    if not AXE.is_file():
        if shutil.which("npm"):
            pytest.fail("axe-core is not installed: run `npm ci` in the repository.")
        needed("Tests of accessibility need Node.js with npm, which installs axe-core.")
    if not page.evaluate("() => 'axe' in window"):
        page.add_style_tag(content="*, *::before, *::after { transition: none !important; animation: none !important }")
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate(_RUN, list(but))
    return [_said(one) for one in found]


def _said(violation: dict[str, Any]) -> str:
    nodes = violation["nodes"]
    checks = [check for kind in ("any", "all", "none") for check in nodes[0][kind]]
    why = checks[0]["message"] if checks else violation["help"]
    where = ", ".join(" ".join(map(str, node["target"])) for node in nodes[:3])
    return f"{violation['id']} ({len(nodes)}): {why} At {where}"
