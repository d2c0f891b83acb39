"""The tab Annotate in windows of all sizes: nothing is cut off, nothing jumps, the decision stays in sight."""

import pytest

from tests.browser.bench import Bench, invoice
from tests.browser.layout_walks import SIZES, choose_every_tool, reach_every_command

pytestmark = pytest.mark.browser


def test_every_command_is_reached_and_the_decision_seen_at_every_size(bench: Bench) -> None:
    bench.upload(invoice(pages=2))
    bench.ask("What is the total due?")
    reach_every_command(bench, SIZES)


def test_no_button_moves_when_a_tool_is_chosen_at_any_size(bench: Bench) -> None:
    bench.upload(invoice(pages=12))
    bench.ask("What is the total due?")
    choose_every_tool(bench, SIZES)
