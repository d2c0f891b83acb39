"""How long a hand on the canvas waits for its pixels: from the pointer's event to the drawn frame, in milliseconds.

    glossator serve --port 7860 &
    python -m tests.benchmarks.canvas_frames --server http://127.0.0.1:7860

On a page of 5,000 words, for each tool, with nothing marked and with every word marked. Prints the median and the slowest
of each: of the events that paint, and of letting go, which also writes the mark down and puts it in line for the server.
The frame counts as drawn when its pixels can be read back.
"""

import argparse
import shutil
from statistics import median

import pymupdf
from playwright.sync_api import FilePayload, Page, sync_playwright

ROWS, COLUMNS = 100, 50

# Sends the events of one stroke to the canvas, and measures each up to the frame that shows it.
_STROKE = """async ([from, to, steps]) => {
  const { stage } = document.querySelector('.glossator').workspace, { canvas } = stage;
  const frame = canvas.getBoundingClientRect(), taken = [], ended = [];
  const send = async (type, [x, y], buttons) => {
    const [left, top] = stage.view.toScreen(x, y);
    const options = { bubbles: true, pointerId: 1, button: type === 'pointermove' ? -1 : 0, buttons, clientX: frame.x + left, clientY: frame.y + top };
    const began = performance.now();
    canvas.dispatchEvent(new PointerEvent(type, options));
    await new Promise(requestAnimationFrame);
    stage.context.getImageData(0, 0, 1, 1);
    (type === 'pointerup' ? ended : taken).push(performance.now() - began);
  };
  canvas.setPointerCapture = () => {};
  await send('pointermove', from, 0);
  taken.length = 0;
  await send('pointerdown', from, 1);
  for (let step = 1; step <= steps; step++) {
    await send('pointermove', [0, 1].map((axis) => from[axis] + ((to[axis] - from[axis]) * step) / steps), 1);
  }
  await send('pointerup', to, 0);
  return [taken, ended];
}"""
_MARK_ALL = """() => {
  const { answer: answers, library, stage } = document.querySelector('.glossator').workspace;
  stage.setWords(library.words.numbers, true);
  answers.become(library.page.id, { mark: stage.current(), no_answer: false }, 'word');
}"""


def dense_page() -> bytes:
    """A PDF with one page of 5,000 words."""
    document = pymupdf.open()
    page = document.new_page(width=842, height=1191)
    for row in range(ROWS):
        for column in range(COLUMNS):
            page.insert_text((20 + 16 * column, 20 + 11.4 * row), f"{row:02}{column:02}", fontsize=5)
    return document.tobytes()


def stroke(page: Page, start: str, end: str, steps: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each event of a stroke between two words that paints, and of letting go."""
    centre = """(text) => { const { grid } = document.querySelector('.glossator').workspace.stage;
      const [x0, y0, x1, y1] = grid.boxes[grid.texts.indexOf(text)]; return [(x0 + x1) / 2, (y0 + y1) / 2]; }"""
    shown, ended = page.evaluate(_STROKE, [page.evaluate(centre, start), page.evaluate(centre, end), steps])
    return shown, ended


def measure(page: Page, label: str) -> None:
    """Print a row for each tool."""
    for key, name, start, end, steps in (
        ("w", "word, click", "5010", "5010", 0),
        ("w", "word, drag over 30", "6010", "6040", 15),
        ("b", "brush", "3010", "3040", 15),
        ("e", "eraser", "4010", "4040", 15),
        ("t", "mend, choose 30", "7010", "7040", 15),
    ):
        page.keyboard.press(key)
        strokes = [stroke(page, start, end, steps) for _ in range(4)]
        shown = [each for taken, _ in strokes for each in taken]
        ended = [each for _, taken in strokes for each in taken]
        page.keyboard.press("Escape")
        print(
            f"{label:<14} {name:<20} median {median(shown):6.1f} ms   slowest {max(shown):6.1f} ms   "
            f"letting go {median(ended):6.1f} ms"
        )


def main() -> None:
    """Measure on a server that runs already."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="http://127.0.0.1:7860")
    parser.add_argument("--density", type=float, default=1.0, help="device pixels a CSS pixel")
    chosen = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        context = browser.new_context(viewport={"width": 1400, "height": 900}, device_scale_factor=chosen.density)
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.goto(f"{chosen.server}/app/")
        page.wait_for_selector(".glossator[data-started]")
        file: FilePayload = {"name": "dense.pdf", "mimeType": "application/pdf", "buffer": dense_page()}
        page.set_input_files("input[type=file]", [file])
        page.wait_for_function(
            "() => document.querySelector('.glossator').workspace.library.words?.numbers.length === 5000"
            " && document.querySelector('.glossator').dataset.ready"
        )
        page.get_by_label("Ask this document").fill("Which word?")
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.querySelector('.glossator').workspace.answer.local")
        page.wait_for_timeout(2000)
        page.locator(".g-canvas").focus()
        page.keyboard.press("Delete")
        measure(page, "nothing marked")
        page.evaluate(_MARK_ALL)
        page.wait_for_timeout(2000)
        measure(page, "all marked")
        browser.close()


if __name__ == "__main__":
    main()
