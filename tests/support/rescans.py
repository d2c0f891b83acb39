"""The same page again, as another scan gives it; and what only looks like it: the same print with other values."""

import copy
import io
import random
import string
from collections.abc import Callable, Sequence

from PIL import Image

from engine.synthetic.assemble import SyntheticPage
from engine.synthetic.canvas import Canvas
from engine.synthetic.render import draw_clean
from engine.synthetic.scan import apply_wear
from engine.training.augmentation.corruption import misread

Change = Callable[[Image.Image, random.Random], Image.Image]


def noisy(image: Image.Image, rng: random.Random) -> Image.Image:
    """Through a scanner, a fax or a camera once more."""
    return apply_wear(image, rng)


def turned(image: Image.Image, rng: random.Random) -> Image.Image:
    """Fed askew by half a degree, one way or the other."""
    angle = rng.choice((-0.5, 0.5))
    return image.rotate(angle, Image.Resampling.BICUBIC, fillcolor="white")


def through_jpeg(image: Image.Image, rng: random.Random) -> Image.Image:
    """Stored as a poor JPEG."""
    stored = io.BytesIO()
    image.convert("RGB").save(stored, "JPEG", quality=rng.randint(25, 60))
    return Image.open(stored).convert("RGB")


def resized(image: Image.Image, rng: random.Random) -> Image.Image:
    """At another resolution, from two thirds to one and a half."""
    factor = rng.choice((0.67, 1.5))
    return image.resize((round(image.width * factor), round(image.height * factor)), Image.Resampling.BICUBIC)


def rescanned(image: Image.Image, rng: random.Random) -> Image.Image:
    """All of it at once, and moved by up to .6 % of its sides."""
    aside, down = (round(rng.uniform(-0.006, 0.006) * side) for side in image.size)
    crooked = image.rotate(rng.uniform(-0.5, 0.5), Image.Resampling.BICUBIC, fillcolor="white", translate=(aside, down))
    return through_jpeg(resized(noisy(crooked, rng), rng), rng)


def read_again(words: Sequence[str], rate: float, rng: random.Random) -> list[str]:
    """Words as another reading gives them: characters misread at a rate, one word of a hundred lost."""
    return [misread(word, rate, rng) for word in words if rng.random() >= 0.01]


def clean(page: SyntheticPage, canvas: Canvas | None = None) -> Image.Image:
    """A generated page as it left the printer, or another canvas in its place, in the same fonts."""
    return draw_clean(
        canvas or page.canvas, page.page.width, page.page.height, random.Random(f"{page.seed} picture")
    ).convert("RGB")


def other_values(page: SyntheticPage, share: float, rng: random.Random) -> tuple[Canvas, list[str]]:
    """Fill in the same form anew: change a share of the answers' words. Return the canvas and its words."""
    canvas = copy.deepcopy(page.canvas)
    for at in sorted({at for asked in canvas.asked for answer in asked.answers for at in answer}):
        if rng.random() < share:
            canvas.pieces[at].text = _another(canvas.pieces[at].text, rng)
    return canvas, words_of(canvas)


def words_of(canvas: Canvas) -> list[str]:
    """The words of a canvas as they were set."""
    return [piece.text for piece in canvas.pieces]


def _another(text: str, rng: random.Random) -> str:
    """Other letters for letters and other digits for digits."""
    pools = {"d": string.digits, "l": string.ascii_lowercase, "u": string.ascii_uppercase}

    def pool(sign: str) -> str:
        return "d" if sign.isdigit() else "u" if sign.isupper() else "l" if sign.isalpha() else ""

    return "".join(rng.choice(pools[pool(sign)]) if pool(sign) else sign for sign in text)
