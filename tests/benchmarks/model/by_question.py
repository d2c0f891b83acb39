"""Right answers question by question, of one or several weights side by side.

    python -m tests.benchmarks.model.by_question SET [--ocr --ocr-cache CACHE] [--model WEIGHTS ...] [--least 15]

Prints the share of right answers (IoU above .5; on words of OCR by place) of all questions, of those that begin with
who, where, when and how much, and of each question that is asked on `--least` pages or more. `shipped` names the
shipped weights.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from engine.documents.limits import ReadLimits
from engine.grounded import GroundedPage, pages_file, read_pages
from engine.training.evaluation.evaluate import WordsOf, evaluate
from engine.training.evaluation.metrics import HIT, Scored
from engine.training.evaluation.ocr_words import OcrWords
from model.inference import Predictor
from tests.benchmarks.markdown import table

BEGINNINGS = ("who", "where", "when", "how much")


def groups_of(pages: list[GroundedPage], least: int) -> dict[str, set[str]]:
    """Return the rows of the table: a name, and the questions that belong to it."""
    often = Counter(question.question for page in pages for question in page.questions if question.answers)
    rows = {"all": set(often)}
    for beginning in BEGINNINGS:
        rows[f"{beginning} ..."] = {text for text in often if text.lower().startswith(beginning)}
    for question, count in often.most_common():
        if count >= least:
            rows[question] = {question}
    return rows


def is_right(score: Scored) -> bool:
    """Return whether an answer is right: by place where OCR gave the words."""
    return (score.iou if score.judged is None else score.judged.model.place_iou) > HIT


def right_answers(pages: list[GroundedPage], weights: str, words_from: WordsOf | None) -> dict[tuple[str, str], bool]:
    """Return (page, question id) -> whether the answer is right, of all questions that words answer."""
    predictor = Predictor.load() if weights == "shipped" else Predictor.load(Path(weights))
    scored = evaluate(predictor, pages, words_from=words_from, timed=False).scored
    return {(score.page_id, score.question_id): is_right(score) for score in scored if score.answer_words}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path, help="folder in the grounded format")
    parser.add_argument("--model", nargs="+", default=["shipped"], metavar="WEIGHTS")
    parser.add_argument("--ocr", action="store_true", help="ask the words that OCR reads in the pictures")
    parser.add_argument("--ocr-cache", type=Path)
    parser.add_argument("--least", type=int, default=15)
    chosen = parser.parse_args()
    pages = list(read_pages(pages_file(chosen.set)))
    words_from = OcrWords(chosen.set, ReadLimits(), kept_in=chosen.ocr_cache, workers=2) if chosen.ocr else None
    if words_from is not None:
        list(words_from.read_ahead(pages))
    columns = [right_answers(pages, weights, words_from) for weights in chosen.model]
    texts = {(page.page_id, one.question_id): one.question for page in pages for one in page.questions}
    rows = []
    for name, questions in groups_of(pages, chosen.least).items():
        asked = [key for key in columns[0] if texts[key] in questions]
        if asked:
            rows.append(
                [name, str(len(asked)), *(f"{sum(right[key] for key in asked) / len(asked):.3f}" for right in columns)]
            )
    print(table(["", "questions", *(Path(weights).stem for weights in chosen.model)], rows))


if __name__ == "__main__":
    main()
