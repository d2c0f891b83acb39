"""The colours of marks, seen with each kind of colour blindness: apart from each other, and clear of white paper."""

import re
from pathlib import Path

import numpy as np
import pytest

PALETTES = Path(__file__).parents[2] / "annotator" / "static" / "canvas" / "palettes.js"

# G. Machado, M. Oliveira, L. Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE
# TVCG 15 (6), 2009: full severity, for linear RGB.
SEEN = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
APART = 30.0  # CIE76 colour difference; about 2 can just be told apart side by side
LEGIBLE = 3.0  # contrast with white, or with the dark panel, that WCAG 2.2 asks of graphics
THEME = PALETTES.parents[1] / "css" / "theme.css"


def palettes(table: str = "PALETTES") -> dict[str, dict[str, np.ndarray]]:
    found = {}
    (lines,) = re.findall(rf"const {table} = \{{\n(.+?)\n\}};", PALETTES.read_text(), re.S)
    for name, body in re.findall(r"^  (\w+): \{(.+?)\},$", lines, re.M | re.S):
        colours = re.findall(r"(\w+): \[(\d+), (\d+), (\d+)\]", body)
        found[name] = {role: np.array([int(part) for part in parts]) / 255 for role, *parts in colours}
    return found


def linear(colour: np.ndarray) -> np.ndarray:
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def luminance(linear_colour: np.ndarray) -> float:
    return float(linear_colour @ [0.2126, 0.7152, 0.0722])


def lab(linear_colour: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    ratio = (to_xyz @ np.clip(linear_colour, 0, 1)) / [0.9505, 1.0, 1.089]
    x, y, z = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_every_palette_names_all_five_colours() -> None:
    assert palettes() and all(set(each) == {"model", "person", "here", "not", "doubt"} for each in palettes().values())


@pytest.mark.parametrize("sight", SEEN)
@pytest.mark.parametrize("name", palettes())
def test_model_and_person_are_told_apart(name: str, sight: str) -> None:
    colours = palettes()[name]
    one, other = (lab(SEEN[sight] @ linear(colours[role])) for role in ("model", "person"))
    assert np.linalg.norm(one - other) > APART


@pytest.mark.parametrize("sight", SEEN)
@pytest.mark.parametrize("name", palettes())
def test_every_colour_stands_out_on_white_paper(name: str, sight: str) -> None:
    for role, colour in palettes()[name].items():
        seen = np.clip(SEEN[sight] @ linear(colour), 0, 1)
        assert 1.05 / (luminance(seen) + 0.05) > LEGIBLE, role


def dark(name: str) -> np.ndarray:
    """A colour of theme.css in the dark."""
    (value,) = re.findall(rf"--g-{name}: light-dark\(#\w+, #(\w+)\)", THEME.read_text())
    return np.array([int(value[at : at + 2], 16) for at in (0, 2, 4)]) / 255


@pytest.mark.parametrize("sight", SEEN)
@pytest.mark.parametrize("name", palettes())
def test_marks_stand_out_on_a_dark_panel_and_from_each_other(name: str, sight: str) -> None:
    there = palettes("ON_DARK").get(name) or {role: dark(role) for role in ("model", "person")}
    seen = {role: np.clip(SEEN[sight] @ linear(colour), 0, 1) for role, colour in there.items()}
    panel = luminance(np.clip(SEEN[sight] @ linear(dark("panel")), 0, 1))
    for role, colour in seen.items():
        assert (luminance(colour) + 0.05) / (panel + 0.05) > LEGIBLE, role
    assert np.linalg.norm(lab(seen["model"]) - lab(seen["person"])) > APART
