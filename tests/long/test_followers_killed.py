"""Figures after thousands of actions of people, while the process that follows them is killed again and again."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from engine.followers import catch_up
from engine.workspace import Workspace
from tests.support.drift import find_drift
from tests.support.task_actions import Campaign
from tests.support.waiting import wait_until

ACTIONS = 2000
ACTIONS_BETWEEN_KILLS = 40
_FOLLOW = """
import sys, time
from engine.followers import FollowerRunner
from engine.settings import Settings
from engine.workspace import open_workspace
workspace = open_workspace(Settings(data_dir=sys.argv[1], database_url=sys.argv[2], _env_file=None))
FollowerRunner(workspace).start()
print("following", flush=True)
time.sleep(3600)
"""


def test_figures_are_right_after_thousands_of_actions_and_kills(workspace: Workspace) -> None:
    campaign, rng = Campaign(workspace, seed=11), random.Random(11)
    kills = 0
    for _ in range(ACTIONS // ACTIONS_BETWEEN_KILLS):
        with following(workspace) as process:
            for _ in range(ACTIONS_BETWEEN_KILLS):
                campaign.act()
            time.sleep(rng.uniform(0, 0.5))  # of its work: nothing is waited for here
            process.send_signal(signal.SIGKILL)
            kills += 1
    assert kills == ACTIONS // ACTIONS_BETWEEN_KILLS
    wait_until(lambda: catch_up(workspace), seconds=60)  # the lease of a killed process ends first
    assert not (drift := find_drift(workspace)), drift


@contextmanager
def following(workspace: Workspace) -> Iterator[subprocess.Popen[str]]:
    """Let another process follow until it is killed."""
    settings = workspace.settings
    command = [sys.executable, "-c", _FOLLOW, str(settings.data_dir), settings.url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "following\n"
        yield process
        process.kill()
