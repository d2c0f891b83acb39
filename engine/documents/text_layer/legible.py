"""Detection and cleaning of unreadable text, as caused by missing or broken character maps of fonts."""

import unicodedata

# Bullets and boxes of Symbol and Wingdings, in the private use area.
_SYMBOL_FONTS = {0xF0B7: "•", 0xF0A7: "▪", 0xF0D8: "➢", 0xF0FC: "✓", 0xF0A8: "☐", 0xF0FE: "☒", 0xF06F: "☐", 0xF0E0: "→"}
_FORMAT_KEPT = "\u200c\u200d"  # joiners change the meaning of Persian and Indic words


def clean(text: str) -> str:
    """Return the word in composed form, without control, format, private and presentation characters."""
    letters = []
    for c in text:
        c = _SYMBOL_FONTS.get(ord(c), c)
        if 0xFB00 <= ord(c) <= 0xFDFF or 0xFE70 <= ord(c) <= 0xFEFC:
            c = unicodedata.normalize("NFKC", c).replace(" ", "")  # ligatures and shaped Arabic letters
        if c and (c in _FORMAT_KEPT or not is_garbage(c[0])):
            letters.append(c)
    return unicodedata.normalize("NFC", "".join(letters)).strip()


def is_garbage(c: str) -> bool:
    """Return whether a character is unreadable: unknown, private, control, surrogate or unassigned."""
    return c == "\ufffd" or unicodedata.category(c) in ("Cc", "Cf", "Co", "Cs", "Cn")


def unreadable_characters(text: str) -> int:
    """Return how many characters of a word have no letter; 0 for one that is all of private characters: symbols.

    Known symbols and soft hyphens are readable.
    """
    unknown = [c for c in text if ord(c) not in _SYMBOL_FONTS and unicodedata.category(c) != "Cf" and is_garbage(c)]
    is_symbol = len(unknown) == len(text) and all(unicodedata.category(c) == "Co" for c in unknown)
    return 0 if is_symbol else len(unknown)
