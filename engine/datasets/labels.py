"""Labels of a project: accepted answers, one a question, with weights and failed checks. Reads only."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import (
    Annotation,
    AutomaticAnswer,
    Document,
    DocumentGroup,
    ModelVersion,
    Page,
    PageSignature,
    PageWord,
    Revision,
)
from engine.annotation.agreement import compare
from engine.annotation.state import AnnotationState
from engine.annotation.word_list import living
from engine.annotation.words import listed
from engine.datasets.comparisons import own_answers, people_reliability
from engine.datasets.quality import CONTRADICTED, Answer, SeenPage, SeenWord, contradicted, unfit
from engine.datasets.weights import Reliability, label_weight, share_agreed
from engine.documents.duplicates.page_signature import alike
from engine.documents.duplicates.signature_index import signature_in
from engine.statuses import ACCEPTED

GOLD_ANSWER, REVIEWED, UNREVIEWED = (
    0,
    1,
    2,
)  # trust in an answer: gold, judged by a reviewer, or by its author alone
_AT_ONCE = 100


@dataclass(slots=True)
class Label:
    """Answer of a project. `state` names live words; `reasons` are the names of its failed checks."""

    annotation: Annotation
    revision: Revision
    question: str
    author: str
    document: Document
    group: DocumentGroup
    model_version: str | None
    trust: int
    seconds: float
    state: AnnotationState
    weight: float = 1.0
    reasons: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Return the id of the annotation."""
        return self.annotation.id

    @property
    def asked(self) -> tuple[str, str]:
        """Return the document and the question that it answers."""
        return self.annotation.document_id, self.annotation.question_id

    @property
    def accepted(self) -> bool:
        """Return whether its status is accepted; other statuses are taken without checks."""
        return self.revision.status in ACCEPTED


@dataclass(slots=True)
class AutomaticLabel:
    """Answer accepted automatically, above the confidence that the project's precision requires.

    `state` names live words.
    """

    answer: AutomaticAnswer
    question_id: str
    question: str
    document: Document
    group: DocumentGroup
    version: ModelVersion
    state: AnnotationState

    @property
    def id(self) -> str:
        """Return the id of the automatic answer."""
        return self.answer.id

    @property
    def weight(self) -> float:
        """Return its confidence when it was accepted, 0..1."""
        return self.answer.confidence


@dataclass(frozen=True, slots=True)
class Chosen:
    """Labels after the choice: taken, left out as unfit, and passed over for another answer.

    `automatic`: automatic answers, when requested.
    """

    taken: list[Label]
    left_out: list[Label]
    passed_over: list[Label]
    automatic: list[AutomaticLabel] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """Facts about a project that all labels share: people's reliability, and pages with edited words."""

    project_id: str
    people: list[Reliability]
    edited_pages: frozenset[str]

    @property
    def reliable(self) -> dict[str, float]:
        """Return reliability by person."""
        return {row.person: row.reliability for row in self.people}


def project_facts(session: Session, project_id: str) -> ProjectFacts:
    """Return the shared facts about a project."""
    of_project = (
        select(Page.id).join(Document, Document.id == Page.document_id).where(Document.project_id == project_id)
    )
    edited_pages = frozenset(session.scalars(of_project.where(Page.words_version > 0)))
    return ProjectFacts(project_id, people_reliability(session, project_id), edited_pages)


def choose(session: Session, known: ProjectFacts, labels: Sequence[Label], *, fit: bool) -> Chosen:
    """Weigh labels and choose one for each question of each document: most trusted, weightiest, newest.

    Args:
        session: Session to read words and pages with.
        known: Shared facts about the project.
        labels: All labels of whole groups of documents, so that duplicates are compared.
        fit: Leave out labels that fail a quality check; another person's answer takes their place.
    """
    reliable = known.reliable
    with_living_words(session, known, [label.state for label in labels])
    _weigh(session, labels, reliable)
    left_out = _left_out(session, [label for label in labels if label.accepted], reliable) if fit else []
    out = {label.annotation.id for label in left_out}
    kept: dict[tuple[str, str], Label] = {}
    taken, passed_over = [], []
    for label in labels:
        if not label.accepted:
            taken.append(label)
        elif label.annotation.id not in out:
            before = kept.get(label.asked)
            if before is not None:
                passed_over.append(min(before, label, key=_preference))
            kept[label.asked] = label if before is None else max(before, label, key=_preference)
    return Chosen([*taken, *kept.values()], left_out, passed_over)


def with_living_words(session: Session, known: ProjectFacts, states: Iterable[AnnotationState]) -> None:
    """Replace retired words in states by the live words that succeeded them."""
    for state in states:
        for page_id in known.edited_pages & state.pages.keys():
            mark, words = state.pages[page_id], listed(session, page_id)
            if not {word.number for word in words if word.retired}.isdisjoint(mark.words):
                mark.words = [word.number for word in living(mark.words, words) if not word.retired]


def _preference(label: Label) -> tuple[int, float, object, str]:
    return -label.trust, label.weight, label.revision.created_at, label.annotation.id


def _weigh(session: Session, labels: Sequence[Label], reliable: dict[str, float]) -> None:
    asked = sorted({label.asked for label in labels})
    others: dict[tuple[str, str], dict[str, tuple[str, AnnotationState]]] = {}
    for start in range(0, len(asked), _AT_ONCE):
        found = own_answers(session, asked[start : start + _AT_ONCE])
        others |= {key: given for key, given in found.items() if len(given) > 1}
    for label in labels:
        votes = [
            (reliable.get(person, 1.0), share_agreed(compare(label.state, state)))
            for person, (annotation_id, state) in others.get(label.asked, {}).items()
            if person != label.author and annotation_id != label.annotation.id
        ]
        author = reliable.get(label.author, 1.0) if label.trust == UNREVIEWED else 1.0
        label.weight = label_weight(author, votes)


def _left_out(session: Session, labels: Sequence[Label], reliable: dict[str, float]) -> list[Label]:
    answers: dict[str, Answer] = {}
    for _, of_document in groupby(sorted(labels, key=lambda one: one.asked), key=lambda one: one.asked[0]):
        together = list(of_document)
        pages = _seen(session, {page for label in together for page in label.state.marked_pages()})
        for label in together:
            answers[label.annotation.id] = Answer(
                label.state,
                {page: pages[page] for page in label.state.marked_pages() if page in pages},
                label.seconds,
                reliable.get(label.author, 1.0),
                label.trust != UNREVIEWED,
            )
    for label in labels:
        label.reasons = unfit(answers[label.annotation.id])
    for several in _came_in_twice(session, labels):
        said = contradicted([answers[label.annotation.id] for label in several])
        for label, holds in zip(several, said, strict=True):
            if holds:
                label.reasons.append(CONTRADICTED)
    return [label for label in labels if label.reasons]


def _seen(session: Session, page_ids: set[str]) -> dict[str, SeenPage]:
    words: dict[str, dict[int, SeenWord]] = defaultdict(dict)
    rows = session.scalars(select(PageWord).where(PageWord.page_id.in_(page_ids), PageWord.retired_at.is_(None)))
    for row in rows:
        words[row.page_id][row.number] = SeenWord(row.text, (row.x0, row.y0, row.x1, row.y1), row.confidence)
    pages = session.scalars(select(Page).where(Page.id.in_(page_ids)))
    return {page.id: SeenPage(page.width, page.height, words[page.id]) for page in pages}


def _came_in_twice(session: Session, labels: Sequence[Label]) -> Iterable[list[Label]]:
    """Yield the answers to one question on documents with identical pages."""
    several: dict[tuple[str, str], list[Label]] = defaultdict(list)
    for label in labels:
        several[label.group.id, label.annotation.question_id].append(label)
    for given in several.values():
        documents = sorted({label.document.id for label in given})
        if len(documents) > 1:
            first = documents[0]
            same = {first, *(other for other in documents[1:] if _same_pages(session, first, other))}
            together = [label for label in given if label.document.id in same]
            if len(same) > 1:
                yield sorted(together, key=lambda label: label.annotation.id)


def _same_pages(session: Session, one: str, other: str) -> bool:
    """Return whether all pages of two documents are identical."""
    first, second = (
        session.scalars(
            select(PageSignature)
            .join(Page, Page.id == PageSignature.page_id)
            .where(Page.document_id == document_id)
            .order_by(Page.number)
        ).all()
        for document_id in (one, other)
    )
    return len(first) == len(second) > 0 and all(
        alike(signature_in(a), signature_in(b)) for a, b in zip(first, second, strict=True)
    )
