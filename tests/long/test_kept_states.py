"""Thousands of random actions in a project: what is kept of its tasks stays what the answers say."""

import pytest

from engine.workspace import Workspace
from tests.support.task_actions import Campaign


@pytest.mark.parametrize("seed", range(10, 16))
def test_kept_states_survive_thousands_of_actions(workspace: Workspace, seed: int) -> None:
    campaign = Campaign(workspace, seed)
    for step in range(1500 if workspace.database.dialect == "sqlite" else 300):
        campaign.act()
        if step % 5 == 4:
            campaign.check()
