"""Polygons and turned rectangles of other programs: edges are edges, and points are bounded."""

import numpy as np
import pytest
from lxml import etree

from engine.interchange.bad_entries import BadEntry
from engine.interchange.formats import coco, label_studio, page_xml
from engine.interchange.import_entries import MOST_POINTS
from engine.interchange.polygons import fill_inside
from model.masks import rasterise


def test_a_rectangle_as_polygon_has_the_pixels_between_its_edges() -> None:
    mask = fill_inside([[(10, 10), (30, 10), (30, 20), (10, 20)]], (40, 60))
    assert np.array_equal(mask, rasterise([(10, 10, 30, 20)], (40, 60))) and mask.sum() == 200
    assert fill_inside([[(0, 0), (60, 0), (60, 40), (0, 40)]], (40, 60)).all()
    assert fill_inside([[(5, 5), (5, 5), (5, 5)]], (40, 60)).any()


@pytest.mark.parametrize(("degrees", "box"), [(0, (30, 20, 50, 30)), (90, (20, 20, 30, 40)), (-90, (30, 0, 40, 20))])
def test_a_turned_rectangle_of_label_studio_becomes_its_polygon(degrees: int, box: tuple[int, int, int, int]) -> None:
    value = {"x": 30, "y": 20, "width": 20, "height": 10, "rotation": degrees}
    mask = label_studio._shape("here", {"type": "rectanglelabels", "value": value}, (100, 100))
    assert np.array_equal(mask, rasterise([box], (100, 100)))


def test_a_slanted_rectangle_of_label_studio_keeps_its_area() -> None:
    value = {"x": 30, "y": 20, "width": 40, "height": 20, "rotation": 30}
    mask = label_studio._shape("here", {"type": "rectanglelabels", "value": value}, (200, 200))
    assert mask.sum() == pytest.approx(80 * 40, rel=0.02)


def test_the_points_of_a_polygon_are_bounded() -> None:
    points = [[1.0, 1.0]] * (MOST_POINTS + 1)
    with pytest.raises(BadEntry, match="100,001 points; at most 100,000"):
        coco._rings([[value for point in points for value in point]], "here")
    with pytest.raises(BadEntry, match="100,001 points; at most 100,000"):
        label_studio._pairs(points, "here")
    corners = " ".join(f"{x:g},{y:g}" for x, y in points)
    region = etree.fromstring(f'<Region id="r"><Coords points="{corners}"/></Region>')
    with pytest.raises(BadEntry, match="100,001 points; at most 100,000"):
        page_xml._ring(region, "here")
