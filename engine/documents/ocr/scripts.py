"""Scripts that an OCR language covers, to detect for example a Chinese page read as English."""

_OTHERS = {
    "ara": "Arabic",
    "fas": "Arabic",
    "urd": "Arabic",
    "pus": "Arabic",
    "uig": "Arabic",
    "heb": "Hebrew",
    "yid": "Hebrew",
    "ell": "Greek",
    "grc": "Greek",
    "rus": "Cyrillic",
    "ukr": "Cyrillic",
    "bel": "Cyrillic",
    "bul": "Cyrillic",
    "mkd": "Cyrillic",
    "srp": "Cyrillic",
    "kaz": "Cyrillic",
    "hin": "Devanagari",
    "mar": "Devanagari",
    "nep": "Devanagari",
    "ben": "Bengali",
    "tam": "Tamil",
    "tel": "Telugu",
    "kan": "Kannada",
    "mal": "Malayalam",
    "guj": "Gujarati",
    "tha": "Thai",
    "hye": "Armenian",
    "kat": "Georgian",
}
_EAST_ASIA = {"chi_sim": "Han", "chi_tra": "Han", "jpn": "Japanese", "kor": "Korean"}
_EAST_ASIAN_SCRIPTS = {"Han", "Japanese", "Korean", "Katakana", "Hiragana", "Hangul", "HanS", "HanT"}


def scripts_of(language: str) -> frozenset[str]:
    """Return the scripts (Tesseract's names) that "eng" or "eng+jpn" covers. Every language covers Latin."""
    scripts = {"Latin", "Fraktur"}
    for part in language.split("+"):
        base = part.removesuffix("_vert")
        if base in _EAST_ASIA:
            scripts |= _EAST_ASIAN_SCRIPTS  # script detection confuses these
        elif base in _OTHERS:
            scripts.add(_OTHERS[base])
    return frozenset(scripts)


def read_by_rapidocr(language: str) -> bool:
    """Return whether the networks of RapidOCR (PP-OCRv6) know the letters of a language, such as "deu".

    Their dictionary has Greek letters, but neither the final sigma nor accents, and of Vietnamese not half.
    """
    base = language.removesuffix("_vert")
    return base not in ("kor", "vie", *_OTHERS)
