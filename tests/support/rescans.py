"""The same page again, as another scan gives it; and what only looks like it: the same print with other values."""

import copy
import io
import random
import string
from collections.abc import Callable, Sequence

from PIL import Image

from engine.synthetic.assemble import SyntheticPage
from engine.synthetic.render import draw_clean
from engine.synthetic.scan import scanned
from engine.synthetic.sheet import Sheet
from engine.training.augmentation.corruption import misread

Change = Callable[[Image.Image, random.Random], Image.Image]


def noisy(image: Image.Image, chance: random.Random) -> Image.Image:
    """Through a scanner, a fax or a camera once more."""
    return scanned(image, chance)


def turned(image: Image.Image, chance: random.Random) -> Image.Image:
    """Fed askew by half a degree, one way or the other."""
    angle = chance.choice((-0.5, 0.5))
    return image.rotate(angle, Image.Resampling.BICUBIC, fillcolor="white")


def through_jpeg(image: Image.Image, chance: random.Random) -> Image.Image:
    """Stored as a poor JPEG."""
    stored = io.BytesIO()
    image.convert("RGB").save(stored, "JPEG", quality=chance.randint(25, 60))
    return Image.open(stored).convert("RGB")


def resized(image: Image.Image, chance: random.Random) -> Image.Image:
    """At another resolution, from two thirds to one and a half."""
    factor = chance.choice((0.67, 1.5))
    return image.resize((round(image.width * factor), round(image.height * factor)), Image.Resampling.BICUBIC)


def rescanned(image: Image.Image, chance: random.Random) -> Image.Image:
    """All of it at once, and moved by up to .6 % of its sides."""
    aside, down = (round(chance.uniform(-0.006, 0.006) * side) for side in image.size)
    crooked = image.rotate(
        chance.uniform(-0.5, 0.5), Image.Resampling.BICUBIC, fillcolor="white", translate=(aside, down)
    )
    return through_jpeg(resized(noisy(crooked, chance), chance), chance)


def read_again(words: Sequence[str], rate: float, chance: random.Random) -> list[str]:
    """Words as another reading gives them: characters misread at a rate, one word of a hundred lost."""
    return [misread(word, rate, chance) for word in words if chance.random() >= 0.01]


def clean(page: SyntheticPage, sheet: Sheet | None = None) -> Image.Image:
    """A generated page as it left the printer, or another sheet in its place, in the same fonts."""
    return draw_clean(
        sheet or page.sheet, page.page.width, page.page.height, random.Random(f"{page.seed} picture")
    ).convert("RGB")


def other_values(page: SyntheticPage, share: float, chance: random.Random) -> tuple[Sheet, list[str]]:
    """Fill in the same form anew: change a share of the answers' words. Return the sheet and its words."""
    sheet = copy.deepcopy(page.sheet)
    for at in sorted({at for asked in sheet.asked for answer in asked.answers for at in answer}):
        if chance.random() < share:
            sheet.pieces[at].text = _another(sheet.pieces[at].text, chance)
    return sheet, words_of(sheet)


def words_of(sheet: Sheet) -> list[str]:
    """The words of a sheet as they were set."""
    return [piece.text for piece in sheet.pieces]


def _another(text: str, chance: random.Random) -> str:
    """Other letters for letters and other digits for digits."""
    pools = {"d": string.digits, "l": string.ascii_lowercase, "u": string.ascii_uppercase}

    def pool(sign: str) -> str:
        return "d" if sign.isdigit() else "u" if sign.isupper() else "l" if sign.isalpha() else ""

    return "".join(chance.choice(pools[pool(sign)]) if pool(sign) else sign for sign in text)
