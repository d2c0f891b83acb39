"""Over five rounds, whatever comes in, goes, and comes back: no weights judge what they have ever learned from."""

import random
from dataclasses import dataclass, field

from sqlalchemy import delete, select

from db.tables import Annotation, Document, DocumentGroup, FinishedMask, Page, PageWord, Project, Revision, Task
from engine.datasets import snapshots
from engine.documents.duplicates.page_signature import Signature, alike, signature_of
from engine.models.folds import fold_of
from engine.training.retraining.folds import FOLDS
from engine.workspace import Workspace
from tests.support.factories import accept
from tests.support.stored_pages import Paper, group_of, paper, scanned_again, store

ROUNDS = 5
QUESTION = "What is on it?"


def signature_of_paper(paper: Paper) -> Signature:
    return signature_of(paper.image, (word.text for word in paper.words))


@dataclass
class Shelf:
    """A project, and for each document the pages that it was made of, and for each snapshot what it held."""

    workspace: Workspace
    project_id: str
    rng: random.Random = field(default_factory=lambda: random.Random(11))
    pages: dict[str, tuple[int, ...]] = field(default_factory=dict)  # document -> numbers of papers; deleted ones too
    there: dict[str, Document] = field(default_factory=dict)
    learned: list[set[str]] = field(default_factory=lambda: [set() for _ in range(FOLDS)])  # by the weights of a fold
    judged: list[set[str]] = field(default_factory=lambda: [set() for _ in range(FOLDS)])
    splits: dict[str, str] = field(default_factory=dict)  # group -> split, as it was first seen

    def put(self, *numbers: int, again: bool = False) -> Document:
        """A document of these papers, or of rescans of them, with an accepted answer."""
        made = [self.rescan(paper(at)) if again else paper(at) for at in numbers]
        name = f"{'-'.join(map(str, numbers))} {len(self.pages) if again else ''}.png"
        document = store(self.workspace, self.project_id, made, name)
        accept(self.workspace, document, QUESTION, [0])
        self.pages[document.id], self.there[document.id] = numbers, document
        return document

    def rescan(self, original: Paper) -> Paper:
        """A rescan that is recognised; how many bad ones are not is measured by tests.benchmarks.near_duplicates."""
        while True:
            made = scanned_again(original, self.rng.randrange(10**6))
            if alike(signature_of_paper(made), signature_of_paper(original)):
                return made

    def forget(self, document: Document) -> None:
        """Delete a document and all that was said about it."""
        with self.workspace.database.write() as session:
            answers = select(Annotation.id).where(Annotation.document_id == document.id)
            pages = select(Page.id).where(Page.document_id == document.id)
            session.execute(delete(Revision).where(Revision.annotation_id.in_(answers)))
            session.execute(delete(FinishedMask).where(FinishedMask.document_id == document.id))
            session.execute(delete(Annotation).where(Annotation.document_id == document.id))
            session.execute(delete(Task).where(Task.document_id == document.id))
            session.execute(delete(PageWord).where(PageWord.page_id.in_(pages)))
            session.execute(delete(Page).where(Page.document_id == document.id))
            session.execute(delete(Document).where(Document.id == document.id))
        del self.there[document.id]

    def freeze(self) -> None:
        """What a retraining freezes: what the weights of each fold learn from, and what they judge by."""
        frozen = snapshots.freeze(self.workspace, self.project_id)
        documents = {item.document.id for item in snapshots.load(self.workspace, frozen)}
        folds = {one: fold_of(group_of(self.workspace, one).id) for one in documents}
        for fold in range(FOLDS):
            self.learned[fold] |= {one for one in documents if folds[one] != fold}
            self.judged[fold] |= {one for one in documents if folds[one] == fold}
        with self.workspace.database.read() as session:
            for group in session.scalars(select(DocumentGroup)):
                assert self.splits.setdefault(group.id, group.split) == group.split

    def of(self, *splits: str) -> list[Document]:
        """Documents that are there, of groups of these splits, none in quarantine."""
        groups = {document.id: group_of(self.workspace, document.id) for document in self.there.values()}
        return [
            document
            for document in self.there.values()
            if groups[document.id].split in splits and groups[document.id].quarantined_at is None
        ]


def test_no_weights_have_ever_learned_from_a_document_that_they_judge_nor_from_anything_like_it(
    sqlite_workspace: Workspace,
) -> None:
    with sqlite_workspace.database.write() as session:  # its id decides the splits, and so what is drawn below
        session.add(Project(id="five rounds", name="five rounds", settings={}))
    shelf = Shelf(sqlite_workspace, "five rounds")
    quarantined: set[str] = set()
    came_back = rescans_of_holdouts = 0
    for turn in range(ROUNDS):
        for number in range(turn * 10, turn * 10 + 10):
            shelf.put(number)
        holdouts, training = shelf.of("recent", "frozen"), shelf.of("train")
        for document in shelf.rng.sample(holdouts, 2) + shelf.rng.sample(training, 2):
            rescan = shelf.put(*shelf.pages[document.id], again=True)
            assert rescan.group_id == document.group_id
            rescans_of_holdouts += document in holdouts
        judging, teaching = shelf.rng.choice(holdouts), shelf.rng.choice(training)
        quarantined.add(shelf.put(shelf.pages[teaching.id][0], shelf.pages[judging.id][0], again=True).id)
        shelf.freeze()
        gone = shelf.rng.choice([document for document in holdouts if document.name.endswith(" .png")])  # no rescan
        numbers = shelf.pages[gone.id]
        shelf.forget(gone)
        back = shelf.put(*numbers, again=bool(turn % 2))
        assert back.group_id == gone.group_id
        came_back += 1
        shelf.freeze()
    for fold in range(FOLDS):
        learned = {number for document in shelf.learned[fold] for number in shelf.pages[document]}
        judged = {number for document in shelf.judged[fold] for number in shelf.pages[document]}
        assert len(learned) > 20 and len(judged) > 10
        assert learned.isdisjoint(judged)
        assert quarantined.isdisjoint(shelf.learned[fold] | shelf.judged[fold])
    assert len(quarantined) == came_back == ROUNDS and rescans_of_holdouts == 2 * ROUNDS
