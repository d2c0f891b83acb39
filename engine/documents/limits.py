"""What opening one file may cost."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """Limits on reading one document, and the resolution its pages get.

    `seconds` is wall-clock time for the whole document, OCR included. `memory_mb` bounds the address space of the reading
    process, and of each OCR process it starts. `pixels` bounds one page as stored in an image; PDF pages are drawn
    to fit. `words` bounds the words of the whole document, so that a hostile text layer cannot fill the caller's memory.
    """

    seconds: float = 30.0
    memory_mb: int = 2048
    pages: int = 300
    pixels: int = 25_000_000
    bytes: int = 200 * 1024 * 1024
    words: int = 300_000
    dpi: int = 150
    long_side: int = 3000  # pixels; posters and slides are drawn at fewer dots per inch than `dpi`
    ocr_dpi: int = 300
    ocr_language: str = "eng"  # as Tesseract names them, "eng+deu" for several

    def __post_init__(self) -> None:
        for field in ("seconds", "memory_mb", "pages", "pixels", "bytes", "words", "dpi", "long_side", "ocr_dpi"):
            if getattr(self, field) <= 0:
                raise ValueError(f"ReadLimits.{field} must be above zero, not {getattr(self, field)}.")
        if not self.ocr_language or not all(part.replace("_", "").isalnum() for part in self.ocr_language.split("+")):
            raise ValueError(f"ReadLimits.ocr_language must look like 'eng' or 'eng+deu', not {self.ocr_language!r}.")
