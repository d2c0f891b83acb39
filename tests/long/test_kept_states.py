"""Thousands of random actions in a project: what is kept of its tasks stays what the answers say."""

import pytest

from engine.workspace import Workspace
from tests.support.drift import find_drift
from tests.support.task_actions import Campaign


@pytest.mark.parametrize("seed", range(10, 16))
def test_kept_states_survive_thousands_of_actions(workspace: Workspace, seed: int) -> None:
    campaign = Campaign(workspace, seed)
    for step in range(1500 if workspace.database.dialect == "sqlite" else 300):
        campaign.act()
        if step % 5 == 4:
            campaign.check()


@pytest.mark.parametrize("seed", [2, 3])
def test_kept_states_are_right_after_each_piece_of_many_changes(
    workspace: Workspace, one_document_a_batch: None, seed: int
) -> None:
    campaign = Campaign(workspace, seed)
    for step in range(200):
        campaign.act()
        assert not (drift := find_drift(workspace)), (drift, campaign.done)
        if step % 10 == 9:
            campaign.check()
