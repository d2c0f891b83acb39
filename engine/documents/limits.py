"""Limits on the cost of opening one file."""

from dataclasses import dataclass
from typing import Literal, get_args

from engine.confinement import Confinement

OcrChoice = Literal["auto", "rapidocr", "tesseract"]

# Seconds that a document in OCR has beyond its time, before its process is ended: for importing the engine, and for a
# page that is being read when the time is over. Both are longer on a busy machine, and neither is the document's fault.
OCR_PATIENCE = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """Limits on reading one document, and the resolution of its pages.

    Args:
        seconds: Wall-clock time for the whole document.
        ocr_seconds: Further time for each page that OCR looks at; what one page leaves the others may use.
        memory_mb: Address space of the reading process, and of each OCR process.
        pages: Pages of a document.
        pixels: Pixels of one page as stored in an image; PDF pages are scaled to fit.
        bytes: Size of the file.
        words: Words of the whole document; protects the caller from hostile text layers.
        dpi: Resolution of PDF pages.
        long_side: Largest long side of a page, in pixels.
        ocr: OCR engine: "auto", "rapidocr" or "tesseract".
        ocr_language: Languages of scanned pages, such as "eng+deu".
        confinement: Whether the reading process is kept from network, files, programs and other processes:
            "required", "available" (as far as the kernel can) or "off".
    """

    seconds: float = 30.0
    ocr_seconds: float = 10.0
    memory_mb: int = 2048
    pages: int = 300
    pixels: int = 25_000_000
    bytes: int = 200_000_000
    words: int = 300_000
    dpi: int = 150
    long_side: int = 3000  # pixels; posters and slides are rendered below `dpi`
    ocr: OcrChoice = "auto"
    ocr_language: str = "eng"  # Tesseract's names, "eng+deu" for several
    confinement: Confinement = "available"

    def __post_init__(self) -> None:
        for field in ("seconds", "ocr_seconds", "memory_mb", "pages", "pixels", "bytes", "words", "dpi", "long_side"):
            if getattr(self, field) <= 0:
                raise ValueError(f"ReadLimits.{field} must be above zero, not {getattr(self, field)}.")
        if self.ocr not in get_args(OcrChoice):
            raise ValueError(f"ReadLimits.ocr must be one of {', '.join(get_args(OcrChoice))}, not {self.ocr!r}.")
        if self.confinement not in get_args(Confinement):
            choices = ", ".join(get_args(Confinement))
            raise ValueError(f"ReadLimits.confinement must be one of {choices}, not {self.confinement!r}.")
        if not self.ocr_language or not all(part.replace("_", "").isalnum() for part in self.ocr_language.split("+")):
            raise ValueError(f"ReadLimits.ocr_language must look like 'eng' or 'eng+deu', not {self.ocr_language!r}.")
