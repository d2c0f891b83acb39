"""Words of low confidence on the page: told, reached by a key, confirmed or written, and doubted after an undo."""

import pytest
from playwright.sync_api import expect

from db.tables import PageWord
from engine.settings import Settings
from engine.workspace import open_workspace
from tests.browser.bench import Bench
from tests.browser.stored_invoice import Invoiced
from tests.browser.word_fixing import field, write
from tests.support.server_process import Served

pytestmark = pytest.mark.browser


def doubt(bench: Bench, served: Served, *texts: str) -> None:
    """The OCR was not sure of these words of the open page; the page is opened anew."""
    page, numbers = bench.place()["page"], [bench.number(text) for text in texts]
    workspace = open_workspace(Settings(data_dir=served.data, _env_file=None))
    with workspace.database.write() as session:
        for number in numbers:
            session.get_one(PageWord, (page, number)).confidence = 0.4
    workspace.close()
    bench.reopen()
    bench.ready()
    bench.page.locator(".g-canvas").focus()


def doubted(bench: Bench) -> list[str]:
    """The doubtful words as the server tells them."""
    words = bench.words()
    return [words["texts"][words["numbers"].index(number)] for number in words["doubtful"]]


def amber(bench: Bench, text: str) -> bool:
    """Whether a line of the doubt's colour runs below a word on the screen."""
    x0, _, x1, y1 = bench.box(text)
    pixels = bench.page.evaluate(
        """async ([x0, x1, y1]) => {
          const { stage } = document.querySelector('.glossator').workspace, { view, ratio } = stage;
          stage.draw();
          await new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)));
          const [left, low] = view.toScreen(x0, y1), [right] = view.toScreen(x1, y1);
          const part = [left * ratio, (low - 2) * ratio, (right - left) * ratio, 4 * ratio].map(Math.round);
          return [...stage.context.getImageData(...part).data];
        }""",
        [x0, x1, y1],
    )
    colours = zip(pixels[::4], pixels[1::4], pixels[2::4], strict=True)
    return sum(red - blue > 60 and red > green for red, green, blue in colours) >= 10


def test_doubtful_words_are_marked_and_checked_one_after_the_other(invoiced: Invoiced, served: Served) -> None:
    bench = invoiced()
    doubt(bench, served, "March", "2,987.88")
    assert amber(bench, "March") and amber(bench, "2,987.88") and not amber(bench, "EUR")
    line = bench.page.locator(".g-doubts")
    expect(line).to_be_hidden()
    bench.keys.press("F8")  # from any tool
    expect(field(bench)).to_have_value("March")
    expect(line).to_contain_text("2 words read with low confidence")
    bench.keys.press("F8")  # passed over, not confirmed
    expect(field(bench)).to_have_value("2,987.88")
    bench.keys.press("F8")  # behind the last the first one
    expect(field(bench)).to_have_value("March")
    bench.keys.press("Enter")  # right as it stands
    expect(line).to_contain_text("1 word read with low confidence")
    bench.settled()
    assert doubted(bench) == ["2,987.88"] and not amber(bench, "March")
    bench.keys.press("F8")
    field(bench).fill("2,987.00")
    bench.keys.press("Enter")
    expect(line).to_be_hidden()
    bench.settled()
    assert doubted(bench) == []
    bench.keys.press("F8")
    expect(bench.page.locator(".g-toast").last).to_have_text("No word of this page was read with low confidence.")


def test_an_undone_fix_is_doubtful_again_here_and_on_the_server(invoiced: Invoiced, served: Served) -> None:
    bench = invoiced()
    doubt(bench, served, "2,987.88")
    bench.keys.press("t")
    write(bench, "2,987.88", "2,987.00")
    bench.settled()
    assert doubted(bench) == [] and not amber(bench, "2,987.00")
    bench.keys.press("Control+z")
    line = bench.page.locator(".g-doubts")
    expect(line).to_contain_text("1 word read with low confidence")
    bench.settled()
    expect(line).to_contain_text("1 word read with low confidence")
    assert doubted(bench) == ["2,987.88"] and amber(bench, "2,987.88")
    line.get_by_role("button", name="Next").click()
    expect(field(bench)).to_have_value("2,987.88")
    bench.keys.press("Escape")
    assert bench.words()["version"] == 2
