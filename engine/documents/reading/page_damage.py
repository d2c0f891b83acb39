"""Damage of single pages of a PDF, by the warnings of MuPDF: it draws what it can, and goes on."""

from engine.documents.ocr.unread import list_pages

_UNREADABLE = "unreadable"
# What MuPDF says, in small letters, and what that means for the page. Profiles of colours and fonts that are not
# embedded are no damage.
NO_PAGE = "no page"  # not by MuPDF, which shows a blank page where the file has none
_CAUSES = (
    (
        "parts of the content cannot be found",
        (NO_PAGE, "content stream part", "object is not a stream", "cannot find object"),
    ),
    (
        "a picture or another part is cut off",
        ("premature end", "truncated", "unexpected end", "corrupt", "insufficient data"),
    ),
    ("the content has errors", ("error in content stream", "page may not be correct")),
    (
        "a picture cannot be shown",
        ("jpeg error", "error when loading image", "cannot load image", "cannot decode", "jbig2", "jpx", "openjpeg"),
    ),
    ("a font is damaged, so letters may look different", ("error when loading embedded font", "broken font")),
)


class PageDamage:
    """Collected damage of the pages of one document."""

    def __init__(self) -> None:
        self._pages: dict[str, set[int]] = {}

    def note(self, number: int, said: str) -> None:
        """Note what MuPDF said about page `number`, one message a line."""
        for message in said.lower().splitlines():
            for cause, signs in _CAUSES:
                if any(sign in message for sign in signs):
                    self._pages.setdefault(cause, set()).add(number)
                    break

    def note_unreadable(self, number: int) -> int:
        """Note a page of which nothing can be shown; return how many there are."""
        self._pages.setdefault(_UNREADABLE, set()).add(number)
        return len(self._pages[_UNREADABLE])

    def warnings(self) -> list[str]:
        """Return a sentence for each cause, with the pages."""
        sentences = []
        for cause, pages in self._pages.items():
            named, alone = list_pages(sorted(pages)).capitalize(), len(pages) == 1
            if cause == _UNREADABLE:
                sentences.append(
                    f"{named} {'is' if alone else 'are'} damaged and {'was' if alone else 'were'} left blank."
                )
            else:
                compare = "Compare it" if alone else "Compare them"
                sentences.append(f"{named} {'is' if alone else 'are'} damaged: {cause}. {compare} with the original.")
        return sentences
