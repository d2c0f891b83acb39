"""Boxes from the cells of a map."""

import pytest
import torch

from model.heads.boxes import box_at_peak, box_iou, edge_loss, edges_from, generalised_iou, place_loss


def test_edges_are_distances_from_the_middle_of_each_cell():
    distances = torch.tensor([1.5, 0.5, 2.0, 4.0]).log()[None, :, None, None].expand(1, 4, 3, 5)
    edges = edges_from(distances)
    assert edges[0, :, 0, 0].tolist() == pytest.approx([-1.0, 0.0, 2.5, 4.5])
    assert edges[0, :, 2, 4].tolist() == pytest.approx([3.0, 2.0, 6.5, 6.5])


def test_the_box_is_what_the_likeliest_cell_and_those_inside_it_see():
    place = torch.full((1, 8, 8), -20.0)
    place[0, 2, 2], place[0, 2, 3], place[0, 7, 7] = 3.0, 2.9, 2.95
    edges = torch.zeros(1, 4, 8, 8)
    edges[0, :, 2, 2] = torch.tensor([1.0, 1.0, 5.0, 4.0])
    edges[0, :, 2, 3] = torch.tensor([2.0, 1.0, 6.0, 4.0])
    edges[0, :, 7, 7] = torch.tensor([6.0, 6.0, 8.0, 8.0])  # outside: another region, not averaged
    box = box_at_peak(place, edges)[0].tolist()
    assert box == pytest.approx([1.475, 1.0, 5.475, 4.0], abs=0.01)


def test_ious_of_boxes_follow_their_definitions():
    one, other = torch.tensor([0.0, 0.0, 4.0, 2.0]), torch.tensor([2.0, 0.0, 6.0, 2.0])
    assert box_iou(one, other) == pytest.approx(4 / 12)
    assert generalised_iou(one, other) == pytest.approx(4 / 12)  # the hull is the union
    far = torch.tensor([8.0, 0.0, 12.0, 2.0])
    assert box_iou(one, far) == 0
    assert generalised_iou(one, far) == pytest.approx(-(24 - 16) / 24)
    assert generalised_iou(one, one) == pytest.approx(1)


def test_losses_fall_to_nothing_for_the_right_place_and_edges():
    truth = torch.zeros(1, 6, 6)
    truth[0, 1:3, 2:5] = 1
    box = torch.tensor([[2.0, 1.0, 5.0, 3.0]])
    place = torch.where(truth > 0, 9.0, -9.0)
    assert place_loss(place, truth) < 1e-5 < place_loss(-place, truth)
    right = box[:, :, None, None].expand(1, 4, 6, 6)
    assert edge_loss(right, truth, box) == pytest.approx(0, abs=1e-5)
    assert edge_loss(right + 1, truth, box) > 0.3


def test_a_tiny_region_pulls_as_hard_as_a_large_one():
    """Which is what a focal or a dice loss over all cells does not do."""
    pulls = []
    for side in (1, 16):
        truth = torch.zeros(1, 32, 32)
        truth[0, :side, :side] = 1
        place = torch.zeros(1, 32, 32, requires_grad=True)
        place_loss(place, truth).sum().backward()
        assert place.grad is not None
        pulls.append(float(place.grad[truth > 0].abs().sum()))
    assert pulls[0] > 0.9 * pulls[1]
