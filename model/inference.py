"""Answer questions with a checkpoint: read a page once, ask it many times.

A `Predictor` keeps no state after loading and is safe for threads.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn

from model.alternatives import with_alternatives
from model.answers import (
    SEEDS,
    Answer,
    Looked,
    WordChoice,
    by_words,
    choose_words,
    compose_answer,
    pixel_choices,
    questions_at_once,
)
from model.boxes import Box
from model.deferred import Deferred
from model.devices import CPU, device_named, to_device
from model.examples import Point, Prompt, Word
from model.heads.word_head import WordAnswer
from model.inputs import PreparedPage, QuestionBatch, batch_pages, batch_questions, prepare_page, some_questions
from model.kinds import Kind
from model.masks import Mask
from model.network import Asked, GroundingNetwork, PageState, PictureState, load_network
from model.presets import NetworkConfig
from model.ranking.choose import SEEDS as RANKED_SEEDS
from model.ranking.choose import list_of, rank
from model.regions.choose import candidates, choices_of
from model.regions.ink import read_ink
from model.regions.page import PageRegions, find_regions
from model.regions.ranker import question_vectors
from model.vocabulary import Vocabulary

__all__ = ["Answer", "EncodedPage", "Predictor", "Word"]

M = TypeVar("M", bound=nn.Module)

_MOST_STATES = 200_000  # states of words that grow at once: 80 MB each of several tensors, for nano
_WORTH_A_LOOK = -0.85  # logit, a chance of .3: nine of ten questions for regions, and one of eight for words
MOST_WORDS = 8_000  # the memory of an encoded page grows with their square
SHIPPED = Path(__file__).parent / "weights" / "nano.safetensors"


@dataclass(frozen=True, slots=True)
class EncodedPage:
    """A page that `Predictor.encode` read; keep it to ask again."""

    words: tuple[Word, ...]
    size: tuple[int, int]  # width, height in pixels of the rendered page
    version: str  # of the predictor that read it
    prepared: PreparedPage
    state: PageState
    picture: Deferred[PictureState] | None  # None for a page without an image
    regions: Deferred[PageRegions] | None  # None without an image, and for a network that does not rank regions


class Predictor:
    """A checkpoint ready to answer.

    The network computes on its own device. What it says of words and pixels is moved to the CPU, where answers are
    composed and ranked.
    """

    def __init__(self, network: GroundingNetwork, version: str) -> None:
        self.version = version
        self._network = network.eval().requires_grad_(False)
        self._device = next(network.parameters()).device
        self._vocabulary = Vocabulary(network.config.text.buckets)
        # A ranker that has not learned yet would choose at random.
        self._ranker = _on_cpu(network.ranker) if network.ranker is not None and network.ranker.learned else None
        self._seeds = SEEDS if self._ranker is None else RANKED_SEEDS
        regions = network.region_ranker
        self._region_ranker = _on_cpu(regions) if regions is not None and regions.learned else None

    @classmethod
    def load(cls, path: str | Path | None = None, device: str = "cpu") -> "Predictor":
        """Load a checkpoint.

        Args:
            path: a checkpoint file; None loads the shipped one.
            device: where the network computes, as `model.devices.device_named` knows it.

        Returns:
            A predictor.

        Raises:
            ValueError: the file is no checkpoint of this project, or the device is missing. The message is one
                sentence.
        """
        place = device_named(device)
        network, version = load_network(path or SHIPPED)
        return cls(network.to(place), version)

    @property
    def device(self) -> torch.device:
        """Device of the network; pages that were encoded stay there."""
        return self._device

    @property
    def config(self) -> NetworkConfig:
        """Sizes of the network."""
        return self._network.config

    @torch.inference_mode()
    def encode(
        self, image: Image.Image | None, words: Sequence[Word], size: tuple[int, int] | None = None
    ) -> EncodedPage:
        """Read the words of a page. Its picture is looked at when a question first needs it.

        Args:
            image: the rendered page, or None to read its words alone.
            words: words in reading order, boxes in pixels of the page.
            size: width and height of the page in pixels; required without an image.

        Returns:
            The encoded page, for `ask` and `ask_many`.

        Raises:
            ValueError: the size is missing, empty or not that of the image, or the page has too many words.
        """
        if image is not None:
            if size is not None and tuple(size) != image.size:
                raise ValueError(f"The page is said to be {size}, but its image is {image.size}.")
            size = image.size
        if size is None:
            raise ValueError("A page without an image needs its size=(width, height) in pixels.")
        size = (int(size[0]), int(size[1]))
        if min(size) < 1:
            raise ValueError(f"A page of {size[0]} x {size[1]} pixels has nothing on it.")
        if len(words) > MOST_WORDS:
            raise ValueError(f"The page has {len(words):,} words; at most {MOST_WORDS:,} can be read as one page.")
        prepared = prepare_page(words, size, image, self._vocabulary, self.config)
        pages = to_device(batch_pages([prepared]), self._device)
        state = self._network.read_words(pages)
        picture = None if pages.image is None else Deferred(partial(self._look, state, pages.image))
        regions = None
        if image is not None and self._region_ranker is not None:
            # The ink is read now, and packed, so that the image need not be kept.
            ink = read_ink(image, prepared.layout.height if words else None)
            regions = Deferred(partial(find_regions, ink, prepared.layout, size))
        return EncodedPage(tuple(words), size, self.version, prepared, state, picture, regions)

    @torch.inference_mode()
    def _look(self, state: PageState, image: Tensor) -> PictureState:
        return self._network.look(state, image)

    def ask(
        self,
        page: EncodedPage,
        question: str,
        *,
        points: Sequence[Point] = (),
        box: Box | None = None,
        mask: Mask | None = None,
        kind: Kind | None = None,
        both_paths: bool = False,
    ) -> Answer:
        """Answer one question with all prompts given so far.

        Args:
            page: a page that this predictor encoded.
            question: text of the question; may be empty if something else is given.
            points: (x, y, positive) in pixels of the page.
            box: (x0, y0, x1, y1) in pixels that contains the answer.
            mask: an earlier answer to start from, bool [H, W] in pixels of the page.
            kind: kind of value that is wanted, where it is known: of several likely answers one of that kind is chosen.
            both_paths: answer by pixels too where words answer; it takes several times as long.

        Returns:
            The answer at page resolution, with alternatives.

        Raises:
            ValueError: nothing was asked, a prompt does not fit the page, or another version encoded the page.
        """
        width, height = page.size
        if mask is not None and mask.shape != (height, width):
            raise ValueError(f"The mask has shape {mask.shape}, but the page has {height} rows and {width} columns.")
        if not question.strip() and not points and box is None and mask is None:
            raise ValueError("Ask something, or show a point, a box or a mask.")
        if not all(0 <= x <= width and 0 <= y <= height for x, y, _ in points):
            raise ValueError(f"A point lies beside the page of {width} x {height} pixels.")
        if box is not None and not (box[0] < box[2] and box[1] < box[3]):
            raise ValueError(f"The box {tuple(box)} is empty: it needs x0 < x1 and y0 < y1.")
        if box is not None:
            box = (max(0, box[0]), max(0, box[1]), min(width, box[2]), min(height, box[3]))
            if not (box[0] < box[2] and box[1] < box[3]):
                raise ValueError(f"The box lies beside the page of {width} x {height} pixels.")
        prompt = Prompt(question, tuple((float(x), float(y), bool(p)) for x, y, p in points), box, mask, kind)
        return self._answer(page, [prompt], both_paths)[0]

    def ask_many(
        self,
        page: EncodedPage,
        questions: Sequence[str],
        *,
        kinds: Sequence[Kind | None] | None = None,
        both_paths: bool = False,
    ) -> list[Answer]:
        """Answer several questions in one batch; the answers equal those of asking one by one.

        Args:
            page: a page that this predictor encoded.
            questions: texts, none of them empty.
            kinds: kind of value that each question wants, None where it is not known; by default of none.
            both_paths: as in `ask`.

        Returns:
            One answer for each question.

        Raises:
            ValueError: a question is empty, or another version encoded the page.
        """
        if not all(question.strip() for question in questions):
            raise ValueError("One of the questions is empty.")
        wanted = kinds or [None] * len(questions)
        prompts = [Prompt(question, kind=kind) for question, kind in zip(questions, wanted, strict=True)]
        return self._answer(page, prompts, both_paths) if questions else []

    def ask_in_turn(self, page: EncodedPage, questions: Sequence[str], *, both_paths: bool = False) -> Iterator[Answer]:
        """Yield the answers of `ask_many`, asking for few at a time, so that not all masks are in memory."""
        at_once = questions_at_once(*page.size)
        for start in range(0, len(questions), at_once):
            yield from self.ask_many(page, questions[start : start + at_once], both_paths=both_paths)

    def signature(self, page: EncodedPage) -> NDArray[np.float32]:
        """Return a feature vector [width] of the page, comparable between pages that one version read.

        It is the mean of the features of the page's words, or of its image where it has no words.
        """
        words = page.state.words[0, : len(page.words)]
        if not len(words) and page.picture is not None:
            words = page.picture.get().image.coarse[0].flatten(1).T
        if not len(words):
            return np.zeros(self.config.width, np.float32)
        mean: NDArray[np.float32] = words.mean(0).to(CPU).numpy().astype(np.float32)
        return mean

    def _answer(self, page: EncodedPage, prompts: Sequence[Prompt], both_paths: bool) -> list[Answer]:
        if page.version != self.version:
            raise ValueError("The page was read by another version of the model; encode it again.")
        at_once = max(1, _MOST_STATES // (self._seeds * max(1, len(page.words))))
        return [
            answer
            for start in range(0, len(prompts), at_once)
            for answer in self._answer_at_once(page, prompts[start : start + at_once], both_paths)
        ]

    @torch.inference_mode()
    def _answer_at_once(self, page: EncodedPage, prompts: Sequence[Prompt], both_paths: bool) -> list[Answer]:
        questions = batch_questions([page.prepared], [list(prompts)], self._vocabulary, self.config)
        asked = self._network.ask_words(page.state, to_device(questions, self._device), self._seeds)
        words = to_device(asked.words, CPU)
        ranked = [self._rank_answers(page, words, questions, row, prompt) for row, prompt in enumerate(prompts)]
        looked = self._look_at(page, prompts, questions, asked, words, ranked, both_paths)
        answers = [
            compose_answer(
                row,
                prompt,
                words=page.words,
                size=page.size,
                prepared=page.prepared,
                network=words,
                ranked=ranked[row],
                looked=looked.get(row),
            )
            for row, prompt in enumerate(prompts)
        ]
        return [
            with_alternatives(
                answer,
                row,
                prompts[row],
                page.words,
                page.prepared,
                page.state,
                self._network,
                self._vocabulary,
                words,
            )
            for row, answer in enumerate(answers)
        ]

    def _look_at(
        self,
        page: EncodedPage,
        prompts: Sequence[Prompt],
        questions: QuestionBatch,
        asked: Asked,
        words: WordAnswer,
        ranked: Sequence[Sequence[WordChoice]],
        always: bool,
    ) -> dict[int, Looked]:
        """Return what the pixel path says of the questions that may ask for a region, by their rows.

        `asked` is on the network's device, `words` is its part by words on the CPU.
        """
        if page.picture is None:
            return {}
        wordless = ~by_words(words)
        vectors = question_vectors(asked.prompts.tokens, asked.prompts.valid).to(CPU)
        asks = None
        if self._region_ranker is not None:
            asks = self._region_ranker.asks_for_region(vectors, words.by_words)
            wordless |= asks > _WORTH_A_LOOK
        rows = list(range(len(prompts))) if always else wordless.nonzero()[:, 0].tolist()
        if not rows:
            return {}
        subset, some_words = some_questions(questions, rows), to_device(asked.rows(rows).words, CPU)
        pixels = to_device(
            self._network.ask_pixels(page.state, page.picture.get(), asked.rows(rows), to_device(subset, self._device)),
            CPU,
        )
        if self._region_ranker is None or page.regions is None or asks is None:
            return {
                row: Looked(
                    pixel_choices(pixels, at, page.prepared, prompts[row]),
                    float(pixels.answered[at]),
                    decides=not bool(by_words(words)[row]),
                )
                for at, row in enumerate(rows)
            }
        regions, looked = page.regions.get(), {}
        for at, row in enumerate(rows):
            likely = [(choice.words, choice.iou) for choice in ranked[row]]
            listed = candidates(page.prepared, regions, some_words, pixels, subset, at, prompts[row], likely)
            if not len(listed.boxes):
                looked[row] = Looked([], float(pixels.answered[at]), decides=False)
                continue
            features = torch.from_numpy(listed.features)[None]
            valid = torch.ones(features.shape[:2], dtype=torch.bool)
            scores = self._region_ranker(features, valid, vectors[row : row + 1])[0].sigmoid()
            by_words_here = words.by_words[row : row + 1]
            decided = self._region_ranker.decides_against_words(
                self._region_ranker.region_answers(
                    asks[row : row + 1],
                    by_words_here,
                    scores.max()[None],
                    torch.tensor([ranked[row][0].iou if ranked[row] else 0.0]),
                ),
                by_words_here,
            )
            looked[row] = Looked(
                choices_of(listed, scores.numpy(), page.prepared, pixels, at, prompts[row]),
                float(pixels.answered[at]),
                decides=bool(decided),
            )
        return looked

    def _rank_answers(
        self, page: EncodedPage, answer: WordAnswer, questions: QuestionBatch, row: int, prompt: Prompt
    ) -> list[WordChoice]:
        """Return the answers by words, best first; where the user showed a place, the one that begins there leads."""
        shown = bool(prompt.points) or prompt.box is not None
        if shown or self._ranker is None:
            return choose_words(answer, row, shown)
        ranked = rank(self._ranker, list_of(page.prepared, answer, questions, row))
        return [WordChoice(words, iou) for words, iou in ranked]


def _on_cpu(ranker: M) -> M:
    """Return a ranker that computes on the CPU: it is small, and reads features that are made there."""
    is_on_cpu = all(parameter.device.type == "cpu" for parameter in ranker.parameters())
    return ranker if is_on_cpu else copy.deepcopy(ranker).to(CPU)
