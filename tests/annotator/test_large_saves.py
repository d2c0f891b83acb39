"""A large save keeps nobody waiting, and what it was applied to is what it is stored on."""

import threading
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete, func, select

from db.tables import Annotation, Member, ModelVersion, Prediction, Revision
from engine import save_queue
from engine.annotation import bounds
from engine.annotation.proposal import StoredAnswer
from engine.annotation.revisions import RevisionConflict, RevisionRequest, Saved, append_revision
from engine.annotation.state import PageGeometry, raster, to_patch
from engine.annotation.words import WordEditsRequest, edit_words
from engine.errors import NotFound, Refused, TooMany
from engine.tasks.review.verdicts import ReviewRequest, review
from engine.workspace import Workspace
from model.masks import rasterise
from tests.support.annotators import make_person
from tests.support.factories import SIZE, accept, bill, boxes_of, make_document, make_project, pages_of

WHOLE = {"box": [0, 0, *SIZE], "counts": [0, SIZE[0] * SIZE[1]]}
SECONDS = 60  # longer than any of this takes: who waits so long waits for ever


class Shop:
    """A project where Ann and Ben each have a draft of an answer to the same question."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.project = make_project(workspace)
        self.document = make_document(workspace, self.project.id, [bill(1)])
        self.page = pages_of(workspace, self.document.id)[0].id
        self.ann, self.ben = (make_person(workspace, name, self.project.id) for name in ("Ann", "Ben"))
        self.rita = make_person(workspace, "Rita", self.project.id, "reviewer")
        self.of_ann, self.of_ben = (
            accept(workspace, self.document, "What is the total due?", [4], author=name, status="submitted")
            for name in ("Ann", "Ben")
        )

    def strokes(self, number: int) -> list[dict[str, Any]]:
        """Strokes over the whole page; from 84 on they are large."""
        return [{"op": "patch", "page": self.page, "value": 1, "patch": WHOLE}] * number

    def large(self, base: int = 1, key: str | None = None, **more: Any) -> Saved:
        """A large save of Ann's."""
        request = RevisionRequest(
            **{"idempotency_key": key or uuid.uuid4().hex, "base": base, "edits": self.strokes(100), **more}
        )
        return append_revision(self.workspace, self.of_ann.id, request, self.ann.id)

    def small(self, annotation: Annotation, base: int = 1) -> Saved:
        """A word more in somebody's answer, marked by its author."""
        edit = {"op": "words", "page": self.page, "add": [3]}
        request = RevisionRequest(idempotency_key=uuid.uuid4().hex, base=base, edits=[edit])
        return append_revision(self.workspace, annotation.id, request, annotation.author_id)

    def fix(self) -> Saved:
        """A reviewer's verdict that carries large edits."""
        request = ReviewRequest(idempotency_key=uuid.uuid4().hex, base=1, verdict="fixed", edits=self.strokes(100))
        return review(self.workspace, self.of_ann.id, request, self.rita.id)

    def propose(self, words: list[int]) -> None:
        """A newer proposal of the model for Ann's answer."""
        boxes = boxes_of(self.workspace, self.page)
        mask = to_patch(rasterise([boxes[at] for at in words], (SIZE[1], SIZE[0])))
        answer = StoredAnswer(words=words, mask=mask, text="", score=0.5).model_dump(mode="json")
        with self.workspace.database.write() as session:
            version = session.scalar(select(ModelVersion))
            if version is None:
                version = ModelVersion(number=0, checkpoint_sha256="a" * 64, code_version="0")
                session.add(version)
                session.flush()
            prediction = Prediction(
                annotation_id=self.of_ann.id,
                page_id=self.page,
                question_id=self.of_ann.question_id,
                model_version_id=version.id,
                answer=answer,
                score=0.5,
                answered=0.9,
                milliseconds=1.0,
            )
            session.add(prediction)

    def revisions(self) -> int:
        with self.workspace.database.read() as session:
            return session.scalar(select(func.count(Revision.id))) or 0


@pytest.fixture
def shop(workspace: Workspace) -> Shop:
    return Shop(workspace)


class Painting:
    """A save in a thread of its own that stands still where it reads the pixels of its strokes, until it may go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, save: Callable[[], Saved]) -> None:
        self._begun, self._on = threading.Event(), threading.Event()
        self._outcome: list[Saved | BaseException] = []
        real = np.repeat

        def repeat(*given: Any, **more: Any) -> Any:
            if threading.current_thread() is self._thread:
                self._begun.set()
                assert self._on.wait(SECONDS)
            return real(*given, **more)

        def run() -> None:
            try:
                self._outcome.append(save())
            except BaseException as error:
                self._outcome.append(error)

        self._thread = threading.Thread(target=run)
        monkeypatch.setattr(np, "repeat", repeat)
        self._thread.start()
        assert self._begun.wait(SECONDS)

    def done(self) -> Saved:
        """Let it go on, and return what it saved."""
        self._on.set()
        self._thread.join(SECONDS)
        if isinstance(self._outcome[0], BaseException):
            raise self._outcome[0]
        return self._outcome[0]


@pytest.fixture
def painting(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Saved]], Painting]:
    return lambda save: Painting(monkeypatch, save)


Begin = Callable[[Callable[[], Saved]], Painting]


@pytest.mark.parametrize("kind", ["large", "fix"])
def test_a_large_save_keeps_nobody_from_saving(shop: Shop, painting: Begin, kind: str) -> None:
    under_way = painting(getattr(shop, kind))
    assert shop.small(shop.of_ben).revision == 2
    saved = under_way.done()
    assert saved.revision == 2
    assert sum(saved.state.pages[shop.page].mask.counts[1::2]) == SIZE[0] * SIZE[1]


def test_of_two_saves_on_one_base_the_slower_one_is_a_conflict(shop: Shop, painting: Begin) -> None:
    under_way = painting(shop.large)
    assert shop.small(shop.of_ann).revision == 2
    with pytest.raises(RevisionConflict, match="the newest is revision 2"):
        under_way.done()
    assert shop.revisions() == 3


def test_a_verdict_on_what_changed_meanwhile_is_a_conflict(shop: Shop, painting: Begin) -> None:
    under_way = painting(shop.fix)
    assert shop.small(shop.of_ann).revision == 2
    with pytest.raises(RevisionConflict, match="the newest is revision 2"):
        under_way.done()
    assert shop.revisions() == 3


def test_the_same_large_save_sent_twice_at_once_is_stored_once(shop: Shop, painting: Begin) -> None:
    edits = shop.strokes(1)
    under_way = painting(lambda: shop.large(key="sent-twice-at-once", edits=edits))
    first = shop.large(key="sent-twice-at-once", edits=edits)
    assert under_way.done() == first
    assert shop.revisions() == 3


@pytest.mark.parametrize("kind", ["large", "fix"])
def test_words_mended_meanwhile_are_in_the_text(shop: Shop, painting: Begin, kind: str) -> None:
    under_way = painting(getattr(shop, kind))
    change = {"op": "text", "number": 4, "text": "99.99"}
    request = WordEditsRequest(idempotency_key=uuid.uuid4().hex, base=0, edits=[change])
    edit_words(shop.workspace, shop.page, request, shop.ben.id)
    assert "99.99" in under_way.done().text


def test_a_first_edit_builds_on_the_proposal_of_when_it_is_stored(shop: Shop, painting: Begin) -> None:
    with shop.workspace.database.write() as session:
        session.execute(delete(Revision).where(Revision.annotation_id == shop.of_ann.id))
        session.get_one(Annotation, shop.of_ann.id).head = 0
    shop.propose([1])
    stroke = {"op": "patch", "page": shop.page, "value": 1, "patch": {"box": [0, 0, 2, 2], "counts": [0, 4]}}
    under_way = painting(lambda: shop.large(base=0, edits=[stroke]))
    shop.propose([4])
    mark = under_way.done().state.pages[shop.page]
    size = (SIZE[1], SIZE[0])
    expected = rasterise([boxes_of(shop.workspace, shop.page)[4], (0, 0, 2, 2)], size)
    assert mark.words == [4]
    assert mark.mask == to_patch(expected)


def test_who_loses_access_meanwhile_saves_nothing(shop: Shop, painting: Begin) -> None:
    under_way = painting(shop.large)
    with shop.workspace.database.write() as session:
        session.execute(delete(Member).where(Member.user_id == shop.ann.id))
    with pytest.raises(NotFound):
        under_way.done()
    assert shop.revisions() == 2


def test_large_saves_wait_for_each_other_and_small_ones_pass(shop: Shop, painting: Begin) -> None:
    with shop.workspace.save_queue.turn():
        finished = threading.Event()

        def save() -> None:
            shop.large()
            finished.set()

        other = threading.Thread(target=save)
        other.start()
        assert shop.small(shop.of_ben).revision == 2
        assert not finished.is_set()
    assert finished.wait(SECONDS)
    other.join()


def test_where_too_many_large_saves_wait_the_next_one_comes_again_later(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(save_queue, "MAX_IN_QUEUE", 1)
    crowded = replace(shop.workspace, save_queue=save_queue.SaveQueue())
    with crowded.save_queue.turn():
        shop.workspace = crowded
        with pytest.raises(TooMany, match="Try again in a few seconds"):
            shop.large()
        assert shop.small(shop.of_ann).revision == 2
    assert shop.large(base=2).revision == 3


def test_a_stored_save_is_found_again_though_it_would_be_refused_now(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = shop.large(key="the-same-key")
    monkeypatch.setattr(bounds, "MOST_PAINTED", 1)
    assert shop.large(key="the-same-key") == first
    with pytest.raises(Refused, match="Save them in parts"):
        shop.large(base=2)


def test_a_mask_of_too_many_runs_is_refused_and_one_of_old_may_stay(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    dots = np.zeros((SIZE[1], SIZE[0]), dtype=bool)
    dots[::2, ::2] = True
    edit = {"op": "mask", "page": shop.page, "words": [], "mask": to_patch(dots)}
    shop.large(edits=[edit])
    monkeypatch.setattr(bounds, "MOST_RUNS", 1000)
    with pytest.raises(Refused, match="runs; 1,000 are allowed"):
        append_revision(
            shop.workspace,
            shop.of_ben.id,
            RevisionRequest(idempotency_key=uuid.uuid4().hex, base=1, edits=[edit]),
            shop.ben.id,
        )
    saved = shop.large(base=2, edits=[{"op": "patch", "page": shop.page, "value": 0, "patch": _square(9)}])
    dots[:9, :9] = False
    assert (raster(saved.state.pages[shop.page].mask, PageGeometry((SIZE[1], SIZE[0]), {})) == dots).all()


def _square(side: int) -> dict[str, Any]:
    return {"box": [0, 0, side, side], "counts": [0, side * side]}
