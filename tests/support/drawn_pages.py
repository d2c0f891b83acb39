"""Pages that the tests draw: words, an image of them, questions with answers."""

from dataclasses import replace

from PIL import Image, ImageDraw

from model.examples import Example, Question, Word

SIZE = (600, 800)
LINES = (
    (("Acme", 40), ("Trading", 95), ("Ltd", 180)),
    (("Invoice", 40), ("number:", 130), ("INV-2041", 240)),
    (("Date:", 40), ("03/04/2024", 240)),
    (("Bill", 40), ("to:", 90), ("Mary", 240), ("Jones", 300)),
    (("Subtotal", 40), ("118.00", 450)),
    (("Tax", 40), ("5.90", 450)),
    (("Total", 40), ("due:", 110), ("$", 430), ("123.90", 450)),
)


def page_words() -> tuple[Word, ...]:
    """Seven lines of words, 20 pixels high, 50 apart."""
    return tuple(
        Word(text, (x, 60 + 50 * row, x + 11 * len(text), 80 + 50 * row))
        for row, line in enumerate(LINES)
        for text, x in line
    )


def page_image() -> Image.Image:
    """The words as text on white, with a ticked box below."""
    image = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(image)
    for word in page_words():
        draw.text(word.box[:2], word.text, fill="black")
    draw.rectangle((40, 500, 60, 520), outline="black", width=2)
    return image


def place(text: str) -> int:
    """Index of the word with this text."""
    return next(index for index, word in enumerate(page_words()) if word.text == text)


def rotated(page: Example, degrees: float) -> Example:
    """Return the page with its image turned counterclockwise; white fills the corners."""
    assert page.image is not None
    return replace(page, image=page.image.rotate(degrees, fillcolor="white"))


def example(image: bool = False) -> Example:
    """The page with three questions: two that words answer, one that the page does not."""
    questions = (
        Question("What is the total due?", ((place("$"), place("123.90")), (place("123.90"),))),
        Question("invoice number", ((place("INV-2041"),),)),
        Question("Who is the carrier?"),
    )
    return Example(page_words(), SIZE, questions, page_image() if image else None)
