"""Choice of the OCR engine by setting and language."""

from engine.documents.limits import OcrChoice
from engine.documents.ocr import tesseract
from engine.documents.ocr.engine import OcrEngine
from engine.documents.ocr.scripts import read_by_rapidocr


def find_engine(choice: OcrChoice, language: str, threads: int) -> tuple[OcrEngine | None, str | None]:
    """Return the engine, loaded, and a sentence about anything missing.

    Args:
        choice: "auto": RapidOCR where it has the letters of all languages, else Tesseract where that has them.
        language: languages by Tesseract's names, "eng+deu" for several.
        threads: parts of a page that may be read at the same time.
    """
    wanted = language.split("+")
    ours = [part for part in wanted if read_by_rapidocr(part)]
    foreign = [part for part in wanted if part not in ours]
    if choice == "tesseract":
        return tesseract.find(language)
    if choice == "auto" and foreign:
        engine, sentence = tesseract.find(language)
        if engine is not None and sentence is None:
            return engine, None
        if not ours or (engine is not None and len(engine.language.split("+")) > len(ours)):
            return engine, sentence
    sentence = None
    if foreign:
        packages = " and ".join(f"tesseract-ocr-{part}" for part in foreign)
        sentence = (
            f"RapidOCR has no letters of {', '.join(foreign)}, so scanned pages were read as "
            f"{' and '.join(ours) or 'eng'}: install Tesseract with {packages}, leave GLOSSATOR_OCR at auto, "
            "and read the pages again."
        )
    return _rapid("+".join(ours) or "eng", threads), sentence


def _rapid(language: str, threads: int) -> OcrEngine:
    from engine.documents.ocr.rapid import RapidOcr

    return RapidOcr(language, threads)
