"""Labels of a project: accepted answers, one a question, with weights and failed checks. Reads only."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.statuses import ACCEPTED
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
    Task,
)
from engine.annotation.agreement import AGREED, compare
from engine.annotation.state import AnnotationState
from engine.annotation.typed_values import load_typed_values
from engine.annotation.word_list import living
from engine.annotation.words import MOST_NAMED, listed_of
from engine.datasets.comparisons import batches, own_answers, people_reliability, values_by_annotation
from engine.datasets.quality import CONTRADICTED, Answer, SeenPage, SeenWord, find_contradicted, find_failed_checks
from engine.datasets.weights import Reliability, label_weight, share_agreed
from engine.documents.duplicates.page_signature import Signature, alike
from engine.documents.duplicates.signature_index import signature_in
from engine.queries import not_removed

# Trust in an answer: gold, chosen by a reviewer over contradicting ones, judged by a reviewer, by its author alone.
GOLD_ANSWER, CHOSEN, REVIEWED, UNREVIEWED = range(4)
_AT_ONCE = 100  # questions whose answers are compared
_DOCUMENTS_AT_ONCE, _PAGES_AT_ONCE = 500, 200  # of one statement
_WORD_COLUMNS = (
    PageWord.page_id,
    PageWord.number,
    PageWord.text,
    PageWord.x0,
    PageWord.y0,
    PageWord.x1,
    PageWord.y1,
    PageWord.confidence,
)


@dataclass(slots=True)
class Label:
    """Answer of a project. `state` names live words; `reasons` are the names of its failed checks.

    `score`, `answered`: what the model said of the proposal that was corrected or accepted; None without one.

    `accepted_at`: when it was first accepted, where several answers are; else None. `late`: its task had all the
    accepted answers that it wanted before this one.
    `instead_of`: accepted answers to the same question that it was chosen over, and that contradict it.
    """

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
    instead_of: list["Label"] = field(default_factory=list)
    score: float | None = None
    answered: float | None = None
    accepted_at: datetime | None = None
    late: bool = False

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


def project_facts(session: Session, project_id: str, tick: Callable[[], None] = lambda: None) -> ProjectFacts:
    """Return the shared facts about a project; `tick` is called some times a second."""
    of_project = (
        select(Page.id).join(Document, Document.id == Page.document_id).where(Document.project_id == project_id)
    )
    edited_pages = frozenset(session.scalars(of_project.where(Page.words_version > 0)))
    return ProjectFacts(project_id, people_reliability(session, project_id, tick), edited_pages)


def choose(session: Session, known: ProjectFacts, labels: Sequence[Label], *, fit: bool) -> Chosen:
    """Weigh labels and choose one for each question of each document: the most trusted, then weightiest.

    An answer that comes late replaces no accepted one by itself, and of equals the first accepted one stands. Of
    several that reviewers chose, the newest counts.


    A label names the accepted answers that it contradicts (`Label.instead_of`).

    Args:
        session: Session to read words and pages with.
        known: Shared facts about the project.
        labels: All labels of whole groups of documents, so that duplicates are compared.
        fit: Leave out labels that fail a quality check; another person's answer takes their place.
    """
    reliable = known.reliable
    with_living_words(session, known, [label.state for label in labels])
    _weigh(session, labels, reliable)
    _date(session, labels)
    left_out = _check_quality(session, [label for label in labels if label.accepted], reliable) if fit else []
    out = {label.annotation.id for label in left_out}
    chosen: dict[tuple[str, str], Label] = {}
    taken, passed_over = [], []
    for label in labels:
        if not label.accepted:
            taken.append(label)
        elif label.annotation.id not in out:
            before = chosen.get(label.asked)
            if before is not None:
                passed_over.append(min(before, label, key=_preference))
            chosen[label.asked] = label if before is None else max(before, label, key=_preference)
    for label in _contradicting(session, chosen, passed_over):
        chosen[label.asked].instead_of.append(label)
    return Chosen([*taken, *chosen.values()], left_out, passed_over)


def _contradicting(
    session: Session, chosen: Mapping[tuple[str, str], Label], passed_over: Sequence[Label]
) -> Iterator[Label]:
    """Yield the labels passed over that mark another place than the chosen one and do not say the same value."""
    for some in batches(sorted(passed_over, key=lambda each: (each.author, each.id)), _AT_ONCE):
        typed = load_typed_values(session, [(label.annotation.question_id, label.state) for label in some])
        of_chosen = load_typed_values(session, [(label.asked[1], chosen[label.asked].state) for label in some])
        for label, both in zip(some, zip(of_chosen, typed, strict=True), strict=True):
            agreement = compare(chosen[label.asked].state, label.state, both)
            if agreement.iou < AGREED and not agreement.says_same:
                yield label


def with_living_words(session: Session, known: ProjectFacts, states: Sequence[AnnotationState]) -> None:
    """Replace retired words in states by the live words that succeeded them."""
    edited = sorted({page_id for state in states for page_id in known.edited_pages & state.pages.keys()})
    for start in range(0, len(edited), _PAGES_AT_ONCE):
        words = listed_of(session, edited[start : start + _PAGES_AT_ONCE])
        retired = {
            page_id: {word.number for word in page_words if word.retired} for page_id, page_words in words.items()
        }
        for state in states:
            for page_id, mark in state.marks():
                if page_id in words and not retired[page_id].isdisjoint(mark.words):
                    mark.words = [word.number for word in living(mark.words, words[page_id]) if not word.retired]


def _preference(label: Label) -> tuple[int, bool, float, float, str]:
    if label.trust == CHOSEN:
        # Of several that reviewers chose, the newest is the reviewers' last word, whatever it weighs.
        return -label.trust, True, 1.0, label.revision.created_at.timestamp(), label.annotation.id
    first = label.accepted_at or label.revision.created_at
    return -label.trust, not label.late, label.weight, -first.timestamp(), label.annotation.id


def _date(session: Session, labels: Sequence[Label]) -> None:
    """Note when answers were first accepted that are not the only ones to their question, and which came late."""
    number = Counter(label.asked for label in labels if label.accepted)
    several = {label.annotation.id: label for label in labels if label.accepted and number[label.asked] > 1}
    first = select(Revision.annotation_id, func.min(Revision.created_at)).where(Revision.status.in_(ACCEPTED))
    for some in batches(sorted(several), _DOCUMENTS_AT_ONCE):
        rows = session.execute(first.where(Revision.annotation_id.in_(some)).group_by(Revision.annotation_id))
        for annotation_id, accepted_at in rows:
            several[annotation_id].accepted_at = accepted_at
    in_order: dict[tuple[str, str], list[Label]] = defaultdict(list)
    for label in sorted(several.values(), key=lambda each: (each.accepted_at or each.revision.created_at, each.id)):
        in_order[label.asked].append(label)
    for documents in batches(sorted({document_id for document_id, _ in in_order}), _DOCUMENTS_AT_ONCE):
        wanted = select(Task.document_id, Task.question_id, Task.wanted).where(Task.document_id.in_(documents))
        for document_id, question_id, answers in session.execute(wanted):
            for label in in_order.get((document_id, question_id), [])[answers:]:
                label.late = True


def reason_of_choice(label: Label, other: Label) -> str:
    """Return why a label was preferred to another accepted answer to the same question, in a few words."""
    if label.trust != other.trust:
        return {GOLD_ANSWER: "gold answer", CHOSEN: "chosen by a reviewer", REVIEWED: "reviewed"}[label.trust]
    if label.late != other.late:
        return "accepted first"
    if label.trust != CHOSEN and label.weight != other.weight:
        return "more weight"
    return "newer" if label.trust == CHOSEN else "accepted first"


def _weigh(session: Session, labels: Sequence[Label], reliable: dict[str, float]) -> None:
    asked = _asked_of_several(session, {label.annotation.document_id for label in labels})
    wanted = sorted({label.asked for label in labels} & asked)
    others: dict[tuple[str, str], dict[str, tuple[str, AnnotationState]]] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        answers = own_answers(session, wanted[start : start + _AT_ONCE])
        others |= {key: by_person for key, by_person in answers.items() if len(by_person) > 1}
    typed = values_by_annotation(session, others)
    several = [label for label in labels if label.asked in others]
    of_labels = {
        label.id: of_label
        for some in batches(several, _AT_ONCE)
        for label, of_label in zip(
            some, load_typed_values(session, [(label.asked[1], label.state) for label in some]), strict=True
        )
    }
    for label in labels:
        votes = [
            (
                reliable.get(person, 1.0),
                share_agreed(compare(label.state, state, (of_labels[label.id], typed[annotation_id]))),
            )
            for person, (annotation_id, state) in others.get(label.asked, {}).items()
            if person != label.author and annotation_id != label.annotation.id
        ]
        author = reliable.get(label.author, 1.0) if label.trust == UNREVIEWED else 1.0
        label.weight = label_weight(author, votes)


def _asked_of_several(session: Session, documents: Iterable[str]) -> set[tuple[str, str]]:
    """Return (document, question) of all questions with more than one answer; most have one."""
    of_question = Annotation.document_id, Annotation.question_id
    chosen = select(*of_question).where(not_removed()).group_by(*of_question).having(func.count() > 1)
    return {
        (document_id, question_id)
        for some in batches(sorted(documents), _DOCUMENTS_AT_ONCE)
        for document_id, question_id in session.execute(chosen.where(Annotation.document_id.in_(some)))
    }


def _check_quality(session: Session, labels: Sequence[Label], reliable: dict[str, float]) -> list[Label]:
    pages = _load_marked_pages(session, [label.state for label in labels])
    answers = {
        label.annotation.id: Answer(
            label.state,
            {page: pages[page] for page in label.state.marked_pages() if page in pages},
            label.seconds,
            reliable.get(label.author, 1.0),
            label.trust != UNREVIEWED,
        )
        for label in labels
    }
    for label in labels:
        label.reasons = find_failed_checks(answers[label.annotation.id])
    for several in _group_by_duplicate(session, labels):
        flags = find_contradicted([answers[label.annotation.id] for label in several])
        for label, is_contradicted in zip(several, flags, strict=True):
            if is_contradicted:
                label.reasons.append(CONTRADICTED)
    return [label for label in labels if label.reasons]


def _load_marked_pages(session: Session, states: Iterable[AnnotationState]) -> dict[str, SeenPage]:
    """Return the marked pages of answers, with the words that some of these answers name."""
    named: dict[str, set[int]] = defaultdict(set)
    for state in states:
        for page_id in state.marked_pages():
            named[page_id].update(state.pages[page_id].words)
    pages: dict[str, SeenPage] = {}
    for page_ids in batches(sorted(named), _PAGES_AT_ONCE):
        words: dict[str, dict[int, SeenWord]] = {page_id: {} for page_id in page_ids}
        numbers = {number for page_id in page_ids for number in named[page_id]}
        chosen = select(*_WORD_COLUMNS).where(PageWord.page_id.in_(page_ids), PageWord.retired_at.is_(None))
        if len(numbers) <= MOST_NAMED:
            chosen = chosen.where(PageWord.number.in_(numbers))
        for page_id, number, text, x0, y0, x1, y1, confidence in session.execute(chosen):
            if number in named[page_id]:
                words[page_id][number] = SeenWord(text, (x0, y0, x1, y1), confidence)
        sizes = session.execute(select(Page.id, Page.width, Page.height).where(Page.id.in_(page_ids)))
        pages |= {page_id: SeenPage(width, height, words[page_id]) for page_id, width, height in sizes}
    return pages


def _group_by_duplicate(session: Session, labels: Sequence[Label]) -> Iterable[list[Label]]:
    """Yield the answers to one question on documents with identical pages."""
    several: dict[tuple[str, str], list[Label]] = defaultdict(list)
    for label in labels:
        several[label.group.id, label.annotation.question_id].append(label)
    documents_by_question = {
        asked: sorted({label.document.id for label in same_question}) for asked, same_question in several.items()
    }
    pages = _signatures(
        session,
        {document for documents in documents_by_question.values() if len(documents) > 1 for document in documents},
    )
    for key, same_question in several.items():
        first, *others = documents_by_question[key]
        same = {first, *(document for document in others if _same_pages(pages[first], pages[document]))}
        if len(same) > 1:
            together = [label for label in same_question if label.document.id in same]
            yield sorted(together, key=lambda label: label.annotation.id)


def _signatures(session: Session, documents: Iterable[str]) -> dict[str, list[Signature]]:
    """Return the signatures of documents' pages, in their order."""
    signatures: dict[str, list[Signature]] = defaultdict(list)
    for some in batches(sorted(documents), _DOCUMENTS_AT_ONCE):
        rows = session.execute(
            select(Page.document_id, PageSignature)
            .join(Page, Page.id == PageSignature.page_id)
            .where(Page.document_id.in_(some))
            .order_by(Page.document_id, Page.number)
        )
        for document_id, row in rows:
            signatures[document_id].append(signature_in(row))
    return signatures


def _same_pages(first: Sequence[Signature], second: Sequence[Signature]) -> bool:
    """Return whether all pages of two documents are identical."""
    return len(first) == len(second) > 0 and all(alike(a, b) for a, b in zip(first, second, strict=True))
