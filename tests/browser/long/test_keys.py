"""Keys of one's own, light and dark, and what a screen reader finds."""

import pytest
from playwright.sync_api import Route, expect

from annotator.front_end_files import BASE
from tests.browser.bench import Bench, invoice, sent_json

pytestmark = pytest.mark.browser

# Controls without an accessible name, by the parts of the name computation that this page uses.
_NAMELESS = """() => [...document.querySelectorAll('.glossator button, .glossator input, .glossator select, .glossator textarea, .glossator canvas')]
  .filter((each) => each.getClientRects().length && !each.getAttribute('aria-label')?.trim() && !each.textContent.trim() && !each.labels?.length && !each.title)
  .map((each) => each.outerHTML.slice(0, 120))"""
_SMALL = """() => [...document.querySelectorAll('.glossator button, .glossator select, .glossator textarea, .glossator input:not([type=checkbox])')]
  .filter((each) => each.getClientRects().length && !each.matches('.g-thumbnail'))
  .map((each) => [each.getAttribute('aria-label') ?? each.textContent, each.getBoundingClientRect()])
  .filter(([, box]) => box.height < 43.5).map(([name, box]) => `${name} ${box.width} x ${box.height}`)"""


@pytest.fixture
def kept_in_account(bench: Bench) -> dict:
    """A server that keeps preferences, and what it was sent last."""
    kept: dict = {}

    def serve(route: Route) -> None:
        if route.request.method == "PUT":
            kept.clear()
            kept.update(sent_json(route.request))
        route.fulfill(json=kept)

    bench.page.route("**/api/me/preferences", serve)
    return kept


def row(bench: Bench, command: str):
    return bench.page.locator(f".g-help [data-command={command}]")


def tool(bench: Bench) -> str:
    return str(bench.page.evaluate("() => document.querySelector('.glossator').workspace.stage.tool"))


def test_a_command_gets_another_key_that_stays_after_a_reload(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    bench.keys.press("?")
    row(bench, "brush").get_by_role("button").first.click()
    expect(row(bench, "brush")).to_contain_text("Press a key")
    bench.keys.press("Shift+B")
    expect(row(bench, "brush").locator("kbd")).to_have_text(["Shift", "B"])
    bench.keys.press("Escape")
    bench.reload()
    bench.ready()
    assert "Shift B" in (bench.page.locator("[data-tool=brush]").get_attribute("title") or "")
    bench.keys.press("b")
    assert tool(bench) == "word"
    bench.keys.press("Shift+B")
    assert tool(bench) == "brush"


def test_a_key_that_is_taken_is_said_and_goes_over_at_the_second_press(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    bench.keys.press("?")
    row(bench, "brush").get_by_role("button").first.click()
    bench.keys.press("e")
    expect(row(bench, "brush")).to_contain_text("E is in use: “Eraser”")
    expect(row(bench, "eraser").locator("kbd")).to_have_text(["E"])
    bench.keys.press("e")
    expect(row(bench, "brush").locator("kbd")).to_have_text(["E"])
    expect(row(bench, "eraser")).to_contain_text("none")
    row(bench, "plus").get_by_role("button").first.click()
    bench.keys.press("Space")
    expect(row(bench, "plus")).to_contain_text("cannot be reassigned")
    bench.keys.press("Escape")  # gives up the choice, and leaves the list open
    expect(row(bench, "plus").locator("kbd")).to_have_text(["P"])
    row(bench, "eraser").get_by_label("Default keys for: Eraser").click()
    expect(row(bench, "eraser").locator("kbd")).to_have_text(["E"])
    expect(row(bench, "brush")).to_contain_text("none")
    bench.page.get_by_role("button", name="Reset all keys").click()
    expect(row(bench, "brush").locator("kbd")).to_have_text(["B"])


def test_keys_and_colours_are_kept_with_the_account_where_the_server_does_that(
    bench: Bench, kept_in_account: dict
) -> None:
    bench.reload()
    bench.page.wait_for_selector(".glossator[data-started]")
    bench.keys.press("?")
    row(bench, "brush").get_by_role("button").first.click()
    bench.keys.press("F2")
    bench.page.get_by_label("Theme").select_option("dark")
    bench.page.get_by_label("Mark colours").select_option("purple")
    bench.page.wait_for_function("() => !JSON.parse(localStorage.getItem('glossator.preferences')).unsent")
    assert kept_in_account == {"keys": {"brush": ["F2"]}, "theme": "dark", "palette": "purple"}
    bench.page.evaluate("localStorage.clear()")
    bench.reload()
    bench.page.wait_for_selector(".glossator[data-started]")
    assert bench.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert bench.page.evaluate(f"(async () => (await import('{BASE}/canvas/palettes.js')).COLOURS.model)()") == [
        118,
        42,
        131,
    ]
    assert "F2" in (bench.page.locator("[data-tool=brush]").get_attribute("title") or "")


def test_light_and_dark_follow_the_system_until_somebody_chooses(bench: Bench) -> None:
    ground = "() => getComputedStyle(document.querySelector('.g-stage')).backgroundColor"
    light = bench.page.evaluate(ground)
    bench.page.emulate_media(color_scheme="dark")
    dark = bench.page.evaluate(ground)
    assert light != dark
    bench.keys.press("?")
    bench.page.get_by_label("Theme").select_option("light")
    assert bench.page.evaluate(ground) == light
    bench.page.emulate_media(color_scheme="light")
    bench.page.get_by_label("Theme").select_option("dark")
    assert bench.page.evaluate(ground) == dark
    bench.page.get_by_label("Theme").select_option("system")
    assert bench.page.evaluate(ground) == light


def test_everything_that_can_be_pressed_has_a_name(bench: Bench) -> None:
    bench.upload(invoice(pages=2))
    bench.ask("What is the total due?")
    assert bench.page.evaluate(_NAMELESS) == []
    bench.keys.press("t")
    bench.click("2,987.88")
    assert bench.page.evaluate(_NAMELESS) == []
    bench.keys.press("Escape")
    bench.keys.press("?")
    assert bench.page.evaluate(_NAMELESS) == []


def test_fingers_find_targets_of_44_pixels_on_a_phone(bench: Bench) -> None:
    bench.upload(invoice(pages=2))
    bench.ask("What is the total due?")
    place = bench.page.url
    context = bench.page.context.browser.new_context(  # type: ignore[union-attr]
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, device_scale_factor=2
    )
    phone = context.new_page()
    phone.goto(place)
    phone.wait_for_selector(".glossator[data-ready]:not([data-ready=''])")
    assert phone.evaluate("matchMedia('(pointer: coarse)').matches")
    assert phone.evaluate(_SMALL) == []
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    canvas = phone.evaluate(
        "() => { const { width, clientWidth } = document.querySelector('.g-canvas'); return [width, clientWidth]; }"
    )
    assert canvas[0] == 2 * canvas[1]  # a pixel of the screen is a pixel of the canvas
    phone.get_by_role("button", name="More tools").tap()
    assert phone.evaluate(_SMALL) == []
    phone.locator("[data-tool=mend]").tap()
    phone.wait_for_function("() => document.querySelector('.glossator').workspace.stage.tool === 'mend'")
    at = phone.evaluate(
        """() => { const { stage } = document.querySelector('.glossator').workspace, [x0, y0, x1, y1] = stage.grid.boxes[0];
          const frame = stage.canvas.getBoundingClientRect(), [x, y] = stage.view.toScreen((x0 + x1) / 2, (y0 + y1) / 2);
          return [frame.x + x, frame.y + y]; }"""
    )
    phone.touchscreen.tap(*at)
    expect(phone.get_by_label("Text of the word")).to_be_visible()
    assert phone.evaluate(_SMALL) == []
    context.close()


def test_a_general_key_that_judges_while_reviewing_is_not_given_away_unsaid(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    bench.keys.press("?")
    row(bench, "undo").get_by_role("button").first.click()
    bench.keys.press("a")
    expect(row(bench, "undo")).to_contain_text("A is in use while reviewing: “Accept the answer”")
    bench.keys.press("Escape")
    row(bench, "eraser").get_by_role("button").first.click()
    bench.keys.press("a")  # tools rest while an answer is under review: the two never meet
    expect(row(bench, "eraser").locator("kbd")).to_have_text(["A"])
    expect(row(bench, "reviewAccept").locator("kbd")).to_have_text(["A"])


def test_a_key_of_a_review_stays_after_a_reload(bench: Bench) -> None:
    bench.keys.press("?")
    row(bench, "reviewReject").get_by_role("button").first.click()
    bench.keys.press("y")
    expect(row(bench, "reviewReject").locator("kbd")).to_have_text(["Y"])
    bench.keys.press("Escape")
    bench.page.reload()
    bench.page.wait_for_selector(".glossator[data-started]")
    bench.keys.press("?")
    expect(row(bench, "reviewReject").locator("kbd")).to_have_text(["Y"])


def test_no_letter_can_be_made_untypable_in_the_field_of_a_word(bench: Bench) -> None:
    bench.keys.press("?")
    row(bench, "splitWord").get_by_role("button").first.click()
    bench.keys.press("y")
    expect(row(bench, "splitWord")).to_contain_text("Y is needed for typing")
    bench.keys.press("Alt+y")
    expect(row(bench, "splitWord").locator("kbd")).to_have_text(["Alt", "Y"])


def test_the_digit_after_s_is_no_command_in_a_field_or_with_control(bench: Bench) -> None:
    bench.upload()
    bench.page.evaluate(
        """() => { const { suggestions } = document.querySelector('.glossator').workspace.panels;
          suggestions.standard = [{ id: 'q', text: 'What is the total due?', annotation_id: null }]; suggestions.render(); }"""
    )
    room = bench.page.locator(".g-suggestions-room")
    bench.page.locator(".g-canvas").focus()
    bench.keys.press("s")
    expect(room).to_have_attribute("data-armed", "on")
    bench.page.get_by_role("searchbox", name="Search documents").click()
    expect(room).not_to_have_attribute("data-armed", "on")
    bench.keys.press("1")
    expect(bench.page.get_by_role("searchbox", name="Search documents")).to_have_value("1")
    bench.page.locator(".g-canvas").focus()
    bench.keys.press("s")
    bench.page.get_by_role("searchbox", name="Search documents").focus()
    bench.keys.press("2")
    expect(bench.page.get_by_role("searchbox", name="Search documents")).to_have_value("12")
    expect(bench.page.locator(".g-question")).to_have_count(0)


def test_a_box_that_was_given_up_with_its_tool_swallows_no_space(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    bench.page.locator(".g-canvas").focus()
    bench.keys.press("r")
    bench.keys.press("ArrowDown")
    bench.keys.press("Space")  # first corner
    bench.keys.press("w")
    bench.keys.press("r")
    bench.keys.press("ArrowDown")
    bench.keys.press("Space")  # the first corner again
    assert bench.page.evaluate("() => document.querySelector('.glossator').workspace.stage.stroking")


def test_light_stays_light_when_the_system_turns_dark(bench: Bench) -> None:
    bench.keys.press("?")
    bench.page.get_by_label("Theme").select_option("light")
    bench.page.evaluate("document.body.classList.add('dark')")  # as Gradio does when the system changes
    expect(bench.page.locator("body")).not_to_have_class("dark")
    bench.page.get_by_label("Theme").select_option("dark")
    bench.page.evaluate("document.body.classList.remove('dark')")
    bench.page.wait_for_function("() => document.body.classList.contains('dark')")


def test_colours_of_marks_stand_out_on_a_dark_panel(bench: Bench) -> None:
    bench.keys.press("?")
    bench.page.get_by_label("Theme").select_option("dark")
    contrast = """(name) => {
      const probe = document.querySelector('.glossator').appendChild(document.createElement('i'));
      const light = (value) => {
        probe.style.color = value;
        const [red, green, blue] = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map((each) => each / 255)
          .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
      };
      const ratio = light(`var(${name})`) / light('var(--g-panel)');
      probe.remove();
      return ratio;
    }"""
    for palette in ("blue", "purple"):
        bench.page.get_by_label("Mark colours").select_option(palette)
        for name in ("--g-model", "--g-person"):
            assert bench.page.evaluate(contrast, name) >= 3, (palette, name)


def test_the_legend_of_colours_stands_in_the_dialog(bench: Bench) -> None:
    bench.keys.press("?")
    dialog = bench.page.get_by_role("dialog")
    for kind in ("g-model", "g-person", "g-hatched", "g-dashed"):
        swatch = dialog.locator(f".g-legend .g-swatch.{kind}")
        swatch.scroll_into_view_if_needed()
        inner, outer = swatch.bounding_box(), dialog.bounding_box()
        assert inner is not None and outer is not None
        assert outer["x"] < inner["x"] and outer["y"] < inner["y"] < outer["y"] + outer["height"], kind


def test_the_field_of_a_word_keeps_off_the_edge_of_a_phone(bench: Bench) -> None:
    bench.upload()
    bench.page.set_viewport_size({"width": 390, "height": 844})
    bench.page.locator(".g-canvas").focus()
    bench.keys.press("t")
    bench.click("2,987.88")
    field, stage = bench.page.locator(".g-mend").bounding_box(), bench.page.locator(".g-stage").bounding_box()
    assert field is not None and stage is not None
    assert field["x"] >= stage["x"] + 7.5 and field["x"] + field["width"] <= stage["x"] + stage["width"] - 7.5
