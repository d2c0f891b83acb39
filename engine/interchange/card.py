"""Write the dataset card of an export in Hugging Face's format, with pictures of ten samples.

The card depends on the snapshot alone, so that the same snapshot gives the same card. It names no date, and counts the
effort up to the frozen revisions only.
"""

import json
from collections import Counter
from collections.abc import Iterator

import numpy as np
from PIL import Image

from db.statuses import AUTOMATIC
from engine.datasets.manifest import people_of
from engine.interchange.destination import Destination
from engine.interchange.format import Format
from engine.interchange.outcome import Outcome
from engine.interchange.release import Marked, Release
from engine.interchange.skipped_tasks import SKIPPED_FILE
from engine.interchange.snapshot_figures import SPLITS, UNKNOWN_LICENCE, Figures
from engine.plurals import word
from engine.workspace import Workspace

CARD_FILE, SAMPLES_FOLDER = "README.md", "samples"
SAMPLES = 10
_LONG_SIDE = 900  # pixels of a sample's picture
_MARK = np.array([255, 196, 0])
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10**12, "n>1M"))


def write(release: Release, to: Destination, form: Format, outcome: Outcome, skips: Counter[tuple[str, str]]) -> None:
    """Write README.md, and up to ten pictures into samples/.

    Each picture shows one answer; they are of the first ten documents that have a marked answer.

    Args:
        release: The answers of the snapshot.
        to: Where the export is written.
        form: The format.
        outcome: What the writer of the format wrote.
        skips: Numbers of skipped tasks by reason and verdict.
    """
    figures = release.figures
    samples = _samples(release, to)
    with to.text(CARD_FILE) as file:
        file.writelines(_head(release, form, figures))
        file.writelines(_body(release, form.title, form.lossy, outcome, figures, samples))
        file.writelines(_skips(skips))


def _head(release: Release, form: Format, figures: Figures) -> Iterator[str]:
    """Yield the lines of YAML that Hugging Face reads; JSON strings are YAML strings."""
    total = figures.answers.total() + figures.unanswered.total()
    known = [name for name in figures.licences if name != UNKNOWN_LICENCE]
    licence = known[0].lower() if len(known) == 1 and len(figures.licences) == 1 else None
    yield "---\n"
    yield f"pretty_name: {json.dumps(release.project, ensure_ascii=False)}\n"
    yield f"license: {licence if licence else 'other'}\n"
    yield "task_categories:\n- document-question-answering\n- image-segmentation\n"
    yield "tags:\n- glossator\n- grounded-question-answering\n"
    yield f"size_categories:\n- {next(name for most, name in _SIZES if total < most)}\n"
    if form.card_lines is not None:
        yield from form.card_lines(figures)
    yield "---\n\n"


def _body(
    release: Release, title: str, lossy: str, outcome: Outcome, figures: Figures, samples: list[tuple[str, Marked]]
) -> Iterator[str]:
    yield f"# {_inline(release.project)}\n\n"
    yield (
        "Questions about documents, with the answers marked on the pages in Glossator"
        f"{'' if figures.automatic else ', by people or reviewed by them'}.\n\n"
        f"Format: {title}. Snapshot `{release.snapshot.sha256}`; `manifest.json` names every file with its SHA-256.\n\n"
    )
    if unseen := figures.automatic.total():
        by = ", ".join(f"`{name[:12]}` {count:,}" for name, count in figures.automatic.most_common())
        were = word(unseen, "was", "were")
        yield (
            f"**{unseen:,} of the {figures.statuses.total():,} answers {were} accepted without a person** "
            f"(status `{AUTOMATIC}`; by the versions {by}): they come from a model, above a confidence threshold whose "
            "precision was measured on reviewed answers. The weight of such an answer is its confidence.\n\n"
        )
    if lossy:
        yield f"**This format cannot hold everything.** {lossy}{_loss(outcome)}\n\n"
    yield "## Contents\n\n| split | documents | answers | not answered by the document |\n|---|---|---|---|\n"
    for split in SPLITS.values():
        if figures.documents[split]:
            yield (
                f"| {split} | {figures.documents[split]:,} | {figures.answers[split]:,} "
                f"| {figures.unanswered[split]:,} |\n"
            )
    yield (
        f"| all | {figures.documents.total():,} | {figures.answers.total():,} | {figures.unanswered.total():,} |\n\n"
        "Documents that show the same page are in one group, and a group is in one split. Quarantined documents joined "
        "groups of different splits: use them for neither training nor judging.\n\n"
    )
    yield from _table("Questions", "question", figures.questions, most=20)
    yield from _table("Status", "status", figures.statuses)
    if figures.authors:
        yield from _people(release, figures)
    yield from _table("Licences of the documents", "licence", figures.licences)
    if samples:
        yield "## Samples\n\n"
        for path, marked in samples:
            automatic = f" ({AUTOMATIC})" if marked.item.status == AUTOMATIC else ""
            question = _inline(marked.item.question)
            answer = _inline(marked.text) or "a place without words"
            yield f"{question} *{answer}*{automatic}\n\n![{question}]({path})\n\n"


def _people(release: Release, figures: Figures) -> Iterator[str]:
    """Yield the part on people: agreement, effort, and the models whose proposals they began with."""
    yield "## Agreement and effort\n\n"
    total = figures.authors.total()
    yield (
        f"The mean weight of an answer by a person is {figures.weights / total:.3f} "
        f"(1: everybody who answered the same question agrees); {figures.reduced:,} of {total:,} weigh less than 1.\n\n"
    )
    people = people_of(release.workspace, release.snapshot.sha256)
    yield "| person | answers | reliability | compared |\n|---|---|---|---|\n"
    for name, count in figures.authors.most_common():
        row = people.get(name)
        relied = f"{row['reliability']:.2f} | {row['comparisons'] + row['gold_questions']:,}" if row else "- | 0"
        yield f"| {_inline(name)} | {count:,} | {relied} |\n"
    if figures.timed:
        mean = figures.seconds / figures.timed
        yield (
            f"\nActive work: {figures.seconds / 3600:.1f} hours, {mean:.1f} seconds an answer on average "
            f"({figures.timed:,} answers timed).\n"
        )
    yield "\n"
    named = Counter({name[:12]: count for name, count in figures.models.items() if name})
    yield "## Models\n\n"
    if named:
        yield "| version (SHA-256) | answers that started from its proposal |\n|---|---|\n"
        for name, count in named.most_common():
            yield f"| `{name}` | {count:,} |\n"
    yield f"{figures.models['']:,} answers were made without a proposal.\n\n"


def _skips(skips: Counter[tuple[str, str]]) -> Iterator[str]:
    """Yield the part on the tasks that people could not answer; nothing where there are none."""
    if not skips:
        return
    yield "## Skipped tasks\n\n"
    yield (
        f"People could not answer {skips.total():,} {word(skips.total(), 'task', 'tasks')}; `{SKIPPED_FILE}` names "
        "each with the reason. A reviewer confirmed those that are dismissed; the others wait for a reviewer.\n\n"
    )
    yield "| reason | verdict | count |\n|---|---|---|\n"
    for (reason, verdict), count in sorted(skips.items()):
        yield f"| {_inline(reason)} | {verdict} | {count:,} |\n"
    yield "\n"


def _loss(outcome: Outcome) -> str:
    loss = outcome.loss
    if "mean_iou" not in loss:
        return ""
    sentence = f" The exported masks have a mean IoU of {loss['mean_iou']:.4f} with the accepted ones"
    left = int(loss.get("no_answer_left_out", 0))
    return f"{sentence}; {left:,} questions without an answer are left out." if left else f"{sentence}."


def _table(title: str, what: str, counted: Counter[str], most: int | None = None) -> Iterator[str]:
    yield f"## {title}\n\n| {what} | count |\n|---|---|\n"
    rows = sorted(counted.items(), key=lambda row: (-row[1], row[0]))
    for name, count in rows[:most]:
        yield f"| {_inline(name)} | {count:,} |\n"
    if most is not None and len(rows) > most:
        yield f"| {len(rows) - most:,} more | {sum(count for _, count in rows[most:]):,} |\n"
    yield "\n"


def _inline(text: str) -> str:
    """Return the text in one line, with Markdown's characters escaped."""
    plain = " ".join(text.split())
    return "".join(f"\\{letter}" if letter in "\\|*_`[]<>" else letter for letter in plain)


def _samples(release: Release, to: Destination) -> list[tuple[str, Marked]]:
    """Write pictures of pages with one answer tinted, one a document, and return their paths and answers."""
    drawn: list[tuple[str, Marked]] = []
    for _, items in release.documents():
        for item in items:
            marked = release.marked_pages(item)
            if not marked:
                continue
            path = f"{SAMPLES_FOLDER}/{len(drawn) + 1:02d}.jpg"
            with to.file(path) as target:
                _picture(release.workspace, marked[0]).save(target, format="JPEG", quality=85)
            drawn.append((path, marked[0]))
            break
        if len(drawn) == SAMPLES:
            break
    return drawn


def _picture(workspace: Workspace, marked: Marked) -> Image.Image:
    with workspace.blobs.open(marked.page.image_sha256) as file, Image.open(file) as image:
        page = np.asarray(image.convert("RGB"), float)
    tinted = np.where(marked.mask[:, :, None], 0.45 * page + 0.55 * _MARK, page)
    drawn = Image.fromarray(tinted.astype(np.uint8))
    drawn.thumbnail((_LONG_SIDE, _LONG_SIDE))
    return drawn
