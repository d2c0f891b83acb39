"""OCR by RapidOCR: the PP-OCR networks that detect lines and read them, run by ONNX Runtime.

The networks lie in its package, so nothing is installed beside it and nothing is fetched.
"""

import logging
import math
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, ClassVar

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.documents.ocr.engine import OcrFailed, OcrOutOfTime, OcrPage
from engine.documents.ocr.line_words import Letter, LineWord, line_words
from engine.documents.reading.source_words import FoundLine, FoundWord
from engine.documents.reading.work_clock import CLOCK
from engine.documents.text_layer.legible import clean

_ENLARGED, _ENLARGED_PIXELS = 1.5, 2_600_000  # letters of ten pixels are parted better; as long as it is cheap
_MOST_PIXELS = 3_200_000  # memory grows with them: see engine/documents/ocr/pages.py
_BATCH = 2  # lines that are read together, of like length: padding costs more than a batch saves
_LEAST_SURE = 0.5  # lines below are noise
_LONG = 1.5  # height over width from which a line is read as running down or up, as RapidOCR cuts it
_SAMPLE = 8  # lines that tell which way the page stands
_DOUBTFUL = 0.85  # mean confidence of the sample below which it is read upside down, too
_BETTER = 0.05  # by which the other way must be surer
_MOST_DETECTING = 2  # threads of the detector; more gain little
_PARAMETERS = {
    # The recogniser runs on one thread: batches of lines run beside each other instead, which is faster.
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    "Global.log_level": "error",
    "Global.use_cls": False,  # which way lines stand is told by how well they are read
    "Global.return_word_box": True,
    "Global.max_side_len": 1 << 20,  # the size is chosen by `scale_for`
    "Rec.rec_img_shape": [3, 48, 96],  # the least width to which a batch is padded: most words of a form are short
    "Rec.rec_batch_num": _BATCH,
}

_DETECTOR_THREADS = "EngineConfig.onnxruntime.intra_op_num_threads"

_HALF_WIDTH = {0xFF01 + at: 0x21 + at for at in range(94)}  # of Unicode's wide forms of ASCII

Recognised = tuple[str, float, list[Letter]]  # text of a line, its mean confidence, its letters
Quad = NDArray[np.float32]  # [4, 2], (x, y) of a line's corners: upper left, upper right, lower right, lower left


class RapidOcr:
    """RapidOCR with its networks loaded.

    Args:
        language: languages that are read, by Tesseract's names; the networks are the same for all.
        threads: batches of lines that are read at the same time.
    """

    name: ClassVar[str] = "rapidocr"
    dpi: ClassVar[int] = 150

    def __init__(self, language: str, threads: int) -> None:
        from rapidocr import RapidOCR  # most of a second, which pages with a text layer do not need

        self.language = language
        detecting = {_DETECTOR_THREADS: max(1, min(threads, _MOST_DETECTING))}
        self._detector = RapidOCR(params=_PARAMETERS | detecting)
        self._recogniser = RapidOCR(params=dict(_PARAMETERS))
        logging.getLogger("RapidOCR").setLevel(logging.ERROR)
        self._detecting = Lock()  # the detector keeps the size of its image between its steps
        self._pool = ThreadPoolExecutor(max(1, threads))
        # Both networks are loaded when they are first used: let the first page not wait for one after the other.
        self._pool.submit(self._recogniser.recognize_txt, [np.full((48, 48, 3), 255, np.uint8)])

    def scale_for(self, size: tuple[int, int]) -> float:
        """Return the factor by which an image is enlarged: it is read by its pixels, however long it is."""
        pixels = size[0] * size[1]
        if pixels > _MOST_PIXELS:
            return math.sqrt(_MOST_PIXELS / pixels)
        return max(1.0, min(_ENLARGED, math.sqrt(_ENLARGED_PIXELS / pixels)))

    def read_image(self, image: Image.Image, deadline: float) -> OcrPage:
        """Return the words of a grey image; it is turned first when its text is sideways or upside down."""
        try:
            return self._read_lines(np.asarray(image.convert("L")), deadline)
        except OcrOutOfTime:
            raise
        # RapidOCR, ONNX Runtime and OpenCV raise types of their own; one page must not end the whole document.
        except Exception as error:
            raise OcrFailed(f"{type(error).__name__}: {error}") from error

    def _read_lines(self, grey: NDArray[np.uint8], deadline: float) -> OcrPage:
        quads = self._detect_lines(grey, deadline)
        pictures = [_cut_out(grey, quad) for quad in quads]
        turn, known = self._turn(quads, pictures, deadline)
        if turn:
            grey = np.ascontiguousarray(np.rot90(grey, -turn // 90))
            quads = self._detect_lines(grey, deadline)
            pictures, known = [_cut_out(grey, quad) for quad in quads], {}
        unread = [at for at in range(len(quads)) if at not in known]
        known |= zip(unread, self._recognise_lines([pictures[at] for at in unread], deadline), strict=True)
        read = [known[at] for at in range(len(quads))]
        lines = []
        for quad, picture, (text, sure, letters) in zip(quads, pictures, read, strict=True):
            if sure >= _LEAST_SURE and text.strip():
                lines.append(_place_line(line_words(letters, picture), quad, picture))
        return OcrPage(tuple(line for line in lines if line.words), turn)

    def _detect_lines(self, grey: NDArray[np.uint8], deadline: float) -> list[Quad]:
        """Return the lines of the page as quadrangles, from top to bottom."""
        with self._detecting:
            _in_time(deadline)
            detection = self._detector(_in_colour(grey), use_det=True, use_cls=False, use_rec=False)
        return [] if detection.boxes is None else [np.asarray(quad, dtype=np.float32) for quad in detection.boxes]

    def _turn(
        self, quads: Sequence[Quad], pictures: Sequence[NDArray[np.uint8]], deadline: float
    ) -> tuple[int, dict[int, Recognised]]:
        """Return the clockwise turn that makes the page upright, and the lines read on the way, by their number.

        Most of the long lines tell.
        """
        long_lines = sorted((at for at in range(len(quads)) if _is_long(quads[at])), key=lambda at: -_length(quads[at]))
        downwards = sum(_length(quads[at]) for at in long_lines if _is_vertical(quads[at]))
        sideways = 2 * downwards > sum(_length(quads[at]) for at in long_lines)
        sample = [at for at in long_lines[:_SAMPLE] if _is_vertical(quads[at]) == sideways]
        if not sample:
            return (270 if sideways else 0), {}
        read = self._recognise_lines([pictures[at] for at in sample], deadline)
        sure = _sureness(read)
        upside_down = sure < _DOUBTFUL and (
            _sureness(
                self._recognise_lines([np.ascontiguousarray(pictures[at][::-1, ::-1]) for at in sample], deadline)
            )
            > sure + _BETTER
        )
        # A line that runs down was turned counter-clockwise to be read: so must the page be, by 270 degrees clockwise.
        turn = (270 if sideways else 0) + (180 if upside_down else 0) - (360 if sideways and upside_down else 0)
        return turn, dict(zip(sample, read, strict=True))

    def _recognise_lines(self, pictures: Sequence[NDArray[np.uint8]], deadline: float) -> list[Recognised]:
        """Return the text of each line, its mean confidence, and its letters."""
        order = sorted(range(len(pictures)), key=lambda at: pictures[at].shape[1] / pictures[at].shape[0])
        # The longest come first, so that no thread is left with one of them at the end.
        batches = [order[at : at + _BATCH] for at in range(0, len(order), _BATCH)][::-1]

        def recognise(batch: Sequence[int]) -> Any:
            """Recognise some lines, unless the time is over."""
            _in_time(deadline)
            return self._recogniser.recognize_txt([_in_colour(pictures[at]) for at in batch])

        waiting: list[tuple[list[int], Future[Any]]] = [
            (batch, self._pool.submit(recognise, batch)) for batch in batches
        ]
        read: list[Recognised] = [("", 0.0, [])] * len(pictures)
        try:
            for batch, future in waiting:
                recognised = future.result()
                for at, text, sure, info in zip(
                    batch, recognised.txts, recognised.scores, recognised.word_results, strict=True
                ):
                    read[at] = (text, float(sure), _letters(text, info, pictures[at].shape[1]))
        finally:
            for _, future in waiting:
                future.cancel()
        return read


def _sureness(read: Sequence[Recognised]) -> float:
    return sum(sure for _, sure, _ in read) / max(1, len(read))


def _in_time(deadline: float) -> None:
    if CLOCK.seconds() >= deadline:
        raise OcrOutOfTime


def _in_colour(grey: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.repeat(grey[:, :, None], 3, axis=2)


def _sides(quad: Quad) -> tuple[float, float]:
    """Return the width and the height of a quadrangle: of its opposite sides the longer ones."""
    upper, right, lower, left = (float(np.linalg.norm(quad[at] - quad[(at + 1) % 4])) for at in range(4))
    return max(upper, lower), max(right, left)


def _length(quad: Quad) -> float:
    return max(_sides(quad))


def _is_long(quad: Quad) -> bool:
    return max(_sides(quad)) >= 3 * min(_sides(quad))


def _is_vertical(quad: Quad) -> bool:
    width, height = _sides(quad)
    return height >= _LONG * width


def _cut_out(grey: NDArray[np.uint8], quad: Quad) -> NDArray[np.uint8]:
    """Return the picture of a line, straightened, and turned to run to the right when it is high and narrow."""
    width, height = (max(1, int(side)) for side in _sides(quad))
    picture: NDArray[np.uint8] = np.asarray(
        cv2.warpPerspective(
            grey,
            cv2.getPerspectiveTransform(quad, _corners(width, height)),
            (width, height),
            flags=cv2.INTER_CUBIC,
            borderMode=cv2.BORDER_REPLICATE,
        ),
        dtype=np.uint8,
    )
    return np.ascontiguousarray(np.rot90(picture)) if _is_vertical(quad) else picture


def _corners(width: int, height: int) -> Quad:
    return np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)


def _letters(text: str, info: Any, width: int) -> list[Letter]:
    """Return the letters of a line; the recogniser tells a column of each that is no space."""
    columns = [column for word in info.word_cols for column in word]
    text = half_width(text)
    letters = []
    at = 0
    for letter, sure in zip(text, info.confs, strict=False):
        if letter.isspace():
            letters.append(Letter(letter, None, float(sure)))
            continue
        letters.append(Letter(letter, (columns[at] + 0.5) / info.line_txt_len * width, float(sure)))
        at += 1
    return letters


def half_width(text: str) -> str:
    """Return a line with plain signs in place of wide ones, as a text layer has them; East Asian lines stay."""
    return text if any("\u3040" <= c <= "\u9fff" for c in text) else text.translate(_HALF_WIDTH)


def _place_line(words: Sequence[LineWord], quad: Quad, picture: NDArray[np.uint8]) -> FoundLine:
    """Return a line in pixels of the page."""
    height, width = picture.shape
    vertical = _is_vertical(quad)
    upright = (height, width) if vertical else (width, height)
    back = cv2.getPerspectiveTransform(_corners(*upright), quad)
    placed = []
    for word in words:
        text = clean(word.text)
        if not text:
            continue
        x0, y0, x1, y1 = word.box
        corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], dtype=np.float32)
        if vertical:  # undoes the quarter turn of `_cut_out`
            corners = np.stack([height - corners[:, 1], corners[:, 0]], axis=1)
        corners_on_page = cv2.perspectiveTransform(corners[None], back)[0]
        (left, top), (right, bottom) = corners_on_page.min(axis=0), corners_on_page.max(axis=0)
        placed.append(
            FoundWord(text, (float(left), float(top), float(right), float(bottom)), min(1.0, word.confidence))
        )
    return FoundLine(tuple(placed), 90 if vertical else 0)
