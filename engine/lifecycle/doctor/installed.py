"""What is installed: packages of the settings, OCR, fonts, PostgreSQL's programs, and weights that answer."""

import platform
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from PIL import Image, ImageDraw, ImageFont

from engine import tracing
from engine.annotation.predictors import self_test
from engine.documents.ocr.choose import find_engine
from engine.documents.reading.work_clock import CLOCK
from engine.lifecycle.doctor.finding import Finding, broken, ok, warning
from engine.models.registry import shipped_path
from engine.settings import Settings
from engine.storage.object_store import PACKAGES
from engine.synthetic.fonts import FOLDERS, font_files
from engine.version import code_version

_PRINTED = "Invoice 2026"
_OCR_SECONDS = 60.0


def check_program() -> Iterator[Finding]:
    """Yield the versions of what runs."""
    yield ok("program", f"Glossator {code_version()}, Python {platform.python_version()}, torch {version('torch')}.")


def check_packages(settings: Settings) -> Iterator[Finding]:
    """Yield what the settings need and what is not installed."""
    wanted = []
    if settings.url.startswith("postgres"):
        wanted.append(("GLOSSATOR_DATABASE_URL", "psycopg", "postgresql"))
    if settings.engine == "ray":
        wanted.append(("GLOSSATOR_ENGINE", "ray", "ray"))
    if files := PACKAGES.get(settings.blobs.partition("://")[0]):
        wanted.append(("GLOSSATOR_BLOBS", *files))
    if tracing.is_wanted():
        wanted.append(("OTEL_EXPORTER_OTLP_ENDPOINT", "opentelemetry-exporter-otlp-proto-http", "telemetry"))
    missing = [line for line in wanted if not _is_installed(line[1])]
    for setting, package, extra in missing:
        mend = f"pip install -c constraints.txt -e '.[{extra}]'"
        yield broken("packages", f"{setting} needs the package {package}, which is not installed.", mend)
    if not missing:
        yield ok("packages", "All packages that the settings need are installed.")


def check_ocr(settings: Settings) -> Iterator[Finding]:
    """Yield which engine reads scans, after it has read a printed line."""
    engine, sentence = find_engine(settings.ocr, settings.ocr_language, threads=1)
    install = "Install Tesseract with its languages (Debian: tesseract-ocr), or set GLOSSATOR_OCR=auto."
    if engine is None:
        yield broken("OCR", sentence or "No OCR engine is installed, so scans have no words.", install)
        return
    lines = engine.read_image(_printed_line(), CLOCK.seconds() + _OCR_SECONDS).lines
    words = " ".join(word.text for line in lines for word in line.words)
    if _PRINTED.split()[1] not in words:
        yield broken("OCR", f"The OCR engine {engine.name} reads {words!r} where {_PRINTED!r} is printed.", install)
    elif sentence:
        yield warning("OCR", sentence, install)
    else:
        yield ok("OCR", f"Scans are read by {engine.name}, languages {engine.language}.")


def check_fonts() -> Iterator[Finding]:
    """Yield whether there are fonts to draw generated documents with."""
    if files := font_files(FOLDERS):
        yield ok("fonts", f"{len(files)} TrueType fonts are installed.")
    else:
        sentence = "No TrueType fonts are installed, so generated documents (glossator synth) all look alike."
        yield warning("fonts", sentence, "Install some (Debian: fonts-liberation, fonts-dejavu).")


def check_weights(settings: Settings) -> Iterator[Finding]:
    """Yield whether the initial weights load on the device of the settings, and answer a question."""
    from model.device_missing import DeviceMissing
    from model.inference import Predictor

    path = shipped_path(settings)
    reinstall = "Reinstall Glossator, or set GLOSSATOR_MODEL_PATH to a checkpoint."
    if not path.is_file():
        yield broken("weights", f"There is no model at {path}.", reinstall)
        return
    began = time.monotonic()
    try:
        self_test(Predictor.load(path, settings.device))
    except DeviceMissing as error:
        yield broken("weights", str(error), "Set GLOSSATOR_DEVICE=cpu, or install the device's driver and torch.")
    except Exception as error:  # a file of any content, read by several packages
        yield broken("weights", f"The model {path} cannot be used ({type(error).__name__}: {error}).", reinstall)
    else:
        seconds = time.monotonic() - began
        yield ok("weights", f"The model {path.name} answers on {settings.device}, {seconds:.1f} s with loading.")


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def _printed_line() -> Image.Image:
    image = Image.new("L", (700, 160), 255)
    ImageDraw.Draw(image).text((40, 40), _PRINTED, fill=0, font=ImageFont.load_default(64))
    return image
