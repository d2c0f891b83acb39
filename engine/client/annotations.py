"""The client's methods for answers: ask, refine, save, accept, remove."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engine.client.schemas import (
    Action,
    AnnotationLine,
    AnnotationView,
    Box,
    DecidedAnswer,
    Edit,
    FormField,
    FormView,
    Patch,
    Point,
    Proposal,
    RevisionLine,
    RevisionRequest,
    Saved,
    UpcomingForm,
)
from engine.client.transport import Connection, build_request, plain


class Annotations:
    """Methods of engine.client.Glossator for the answers of documents to questions."""

    _at: Connection

    def ask(self, document_id: str, question: str, page_id: str | None = None) -> AnnotationView:
        """Ask a document, or one page of it. The same question again returns the answer that is there."""
        body = {"question": question, "page_id": page_id}
        return self._at.post(AnnotationView, f"/documents/{document_id}/ask", body)

    def ask_more(self, annotation_id: str, pages: int | None = None) -> AnnotationView:
        """Ask further pages of a long document, the likeliest first.

        pages: how many; None: as many as the page asks.
        """
        body = {} if pages is None else {"pages": pages}
        return self._at.post(AnnotationView, f"/annotations/{annotation_id}/ask-more", body)

    def annotation(self, annotation_id: str) -> AnnotationView:
        """Return an answer with its newest state."""
        return self._at.get(AnnotationView, f"/annotations/{annotation_id}")

    def refine(
        self,
        annotation_id: str,
        page_id: str,
        *,
        points: Sequence[Point] = (),
        box: Box | None = None,
        mask: Patch | None = None,
    ) -> Proposal:
        """Let the model answer again with prompts, and return its proposal. The annotation stays as it is.

        points: x and y in pixels of the page, and whether the answer is there.
        box: left, top, right and lower edge in pixels of the page.
        mask: the mask that the prompts refine.
        """
        body = {
            "page_id": page_id,
            "points": [list(point) for point in points],
            "box": list(box) if box else None,
            "mask": mask.model_dump(mode="json") if mask else None,
        }
        return self._at.post(Proposal, f"/annotations/{annotation_id}/refine", body)

    def propose_table(
        self, annotation_id: str, rows: Sequence[Mapping[str, Mapping[str, Sequence[int]]]] = ()
    ) -> Proposal:
        """Let all rows of a table be proposed anew, and return the proposal. The annotation stays as it is.

        rows: those that stay: name of the column -> id of the page -> numbers of the words.
        """
        given = [
            {"cells": {name: {page: list(words) for page, words in cell.items()} for name, cell in row.items()}}
            for row in rows
        ]
        return self._at.post(Proposal, f"/annotations/{annotation_id}/table", {"rows": given})

    def save(
        self,
        annotation_id: str,
        base: int,
        edits: Iterable[Edit | dict[str, Any]] = (),
        *,
        action: Action = "edit",
        prediction_id: str | None = None,
        seconds: float = 0,
        key: str | None = None,
    ) -> Saved:
        """Append a revision to an answer.

        base: the revision that you saw; 0 while there is only the model's proposal.
        edits: such as engine.client.EditWords, or the same as dictionaries.
        prediction_id: the proposal that the edits build on.
        seconds: of active work since the revision before.
        key: the idempotency key; the same key again returns the same revision. None: a new key.
        Raises ServerSaid (409) when somebody saved before you; its body["current"] is the newest version.
        """
        fields = {"edits": plain(edits), "prediction_id": prediction_id, "seconds": seconds, "action": action}
        request = build_request(RevisionRequest, idempotency_key=key or uuid.uuid4().hex, base=base, **fields)
        return self._at.put(Saved, f"/annotations/{annotation_id}/revisions", request)

    def accept(self, annotation_id: str, base: int, *, seconds: float = 0) -> Saved:
        """Accept the answer of revision `base`. In a project that requires reviews, this submits it."""
        return self.save(annotation_id, base, action="accept", seconds=seconds)

    def submit(self, annotation_id: str, base: int, *, seconds: float = 0) -> Saved:
        """Submit the answer of revision `base` for review."""
        return self.save(annotation_id, base, action="submit", seconds=seconds)

    def no_answer(self, annotation_id: str, base: int, *, seconds: float = 0) -> Saved:
        """Accept that the document does not answer the question."""
        edit = {"op": "no_answer", "value": True}
        return self.save(annotation_id, base, [edit], action="accept", seconds=seconds)

    def form(self, document_id: str) -> FormView:
        """Return all fields of a document's project with your answers so far; nothing is asked."""
        return self._at.get(FormView, f"/documents/{document_id}/form")

    def fill_form(self, document_id: str, most: int | None = None) -> FormView:
        """Let the model answer the fields of a document that you have not asked yet, and return the form.

        most: how many to ask at most; None: as many as the page asks. Call it again while `left` is above 0.
        """
        body = {} if most is None else {"most": most}
        return self._at.post(FormView, f"/documents/{document_id}/form", body)

    def prepare_next_form(self, document_id: str) -> UpcomingForm:
        """Let the model answer the form of the document that you would get after this one; stores nothing."""
        return self._at.post(UpcomingForm, f"/documents/{document_id}/form/upcoming", {})

    def accept_form(
        self, document_id: str, fields: Iterable[FormField], *, seconds: float = 0, key: str | None = None
    ) -> list[DecidedAnswer]:
        """Accept the answers of several fields of a form, as you saw them; each says what became of it.

        seconds: of active work on all of them.
        key: the idempotency key; the same key again stores nothing further. None: a new key.
        """
        return self._decide(f"/documents/{document_id}/form/accept", fields, seconds, key)

    def reopen_form(
        self, document_id: str, fields: Iterable[FormField], *, seconds: float = 0, key: str | None = None
    ) -> list[DecidedAnswer]:
        """Reopen the answers of several fields of a form: they become drafts again. See `accept_form`."""
        return self._decide(f"/documents/{document_id}/form/reopen", fields, seconds, key)

    def _decide(self, path: str, fields: Iterable[FormField], seconds: float, key: str | None) -> list[DecidedAnswer]:
        answers = [
            {"annotation_id": field.annotation_id, "base": field.head, "prediction_id": field.prediction_id}
            for field in fields
        ]
        body = {"idempotency_key": key or uuid.uuid4().hex, "answers": answers, "seconds": seconds}
        return self._at.post(list[DecidedAnswer], path, body)

    def remove(self, annotation_id: str, base: int) -> None:
        """Remove the answer of revision `base` with its question from its document; `restore` brings it back.

        Raises ServerSaid (409) when somebody saved before you; its body["current"] is the newest version.
        """
        self._at.send("DELETE", f"/annotations/{annotation_id}", params={"base": base})

    def restore(self, annotation_id: str) -> AnnotationView:
        """Restore a removed answer as it was."""
        return self._at.post(AnnotationView, f"/annotations/{annotation_id}/restore")

    def removed(self, document_id: str) -> list[AnnotationLine]:
        """Return the removed answers of a document that you can restore, newest first."""
        return self._at.get(list[AnnotationLine], f"/documents/{document_id}/removed-answers")

    def history(self, annotation_id: str) -> list[RevisionLine]:
        """Return the revisions of an answer, oldest first."""
        return self._at.all(RevisionLine, f"/annotations/{annotation_id}/revisions")
