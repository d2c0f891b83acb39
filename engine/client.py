"""Glossator from Python, over REST: everything that people can do on the page.

Answers are the engine's own types. What fails raises `ServerSaid` with one sentence. A request whose answer got lost is sent
again, saves and verdicts with the same idempotency key, so that they are stored once.
"""

import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from engine.annotation.proposal import Proposal
from engine.annotation.revisions import Action, RevisionRequest, Saved
from engine.annotation.state import Box, Edit, Patch, Point
from engine.annotation.views import AnnotationView
from engine.annotation.word_list import WordChange
from engine.annotation.words import MendedWords, MendRequest, Words
from engine.client_learning import Learning
from engine.client_people import People
from engine.client_selection import Selection
from engine.client_types import Document, Project, Uploaded
from engine.client_work import Work
from engine.connection import Connection, ServerSaid, checked
from engine.documents.views import DocumentLine
from engine.tasks.review import RevisionLine

__all__ = ["Glossator", "ServerSaid"]
_FILES = 50  # in one request: as many as the server takes


class Glossator(Work, Learning, Selection, People):
    """A server, and who one is there.

    address: of the server, as in "http://127.0.0.1:7860"
    token: from `glossator users token NAME`; or `name` and `password`; neither where nobody logs in (local mode).
    timeout: seconds that one request may take. ServerSaid when name and password are wrong.

    >>> with Glossator(address, token=token) as glossator:
    ...     project = glossator.create_project("Invoices 2026")
    ...     invoice = glossator.upload(project.id, path).documents[0]
    ...     answer = glossator.ask(invoice.document_id, "What is the total due?")
    ...     page = glossator.document(invoice.document_id).pages[0]
    ...     words = glossator.words(page.id)
    ...     amount = words.numbers[words.texts.index("2,987.88")]
    ...     edits = [{"op": "clear", "page": page.id}, {"op": "words", "page": page.id, "add": [amount]}]
    ...     saved = glossator.save(answer.id, answer.head, edits, seconds=4)
    ...     glossator.accept(answer.id, saved.revision).text
    ...     glossator.export(project.id, folder / "invoices.zip").name
    '2,987.88'
    'invoices.zip'
    """

    def __init__(
        self,
        address: str = "http://127.0.0.1:7860",
        *,
        token: str | None = None,
        name: str | None = None,
        password: str | None = None,
        timeout: float = 120,
    ) -> None:
        self._at = Connection(address, token=token, name=name, password=password, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._at.close()

    # --- projects

    def projects(self) -> list[Project]:
        """Return the projects that one may see, by name."""
        return self._at.get(list[Project], "/projects")

    def project(self, name: str) -> Project:
        """Return a project by its name. ServerSaid (404) names the ones there are."""
        found = self.projects()
        for project in found:
            if project.name == name:
                return project
        there = ", ".join(each.name for each in found) or "none that you may see"
        raise ServerSaid(f"There is no project {name!r}; there is {there}.", 404)

    def create_project(self, name: str, description: str = "") -> Project:
        """Create a project (admins)."""
        body = {"name": name, "description": description}
        return self._at.post(Project, "/projects", body, repeatable=False)

    def change_settings(self, project_id: str, **changes: Any) -> dict[str, Any]:
        """Change settings of a project (its admins), and return all of them; see engine.projects.projects.ProjectSettings."""
        return self._at.patch(dict[str, Any], f"/projects/{project_id}/settings", changes)

    # --- documents

    def upload(self, project_id: str, *paths: str | Path) -> Uploaded:
        """Put files into a project, as many at once as a request may hold. The same bytes again are the same document.
        ServerSaid when none can be read."""
        uploaded = Uploaded(documents=[], refused=[])
        for first in range(0, max(1, len(paths)), _FILES):
            some = paths[first : first + _FILES]
            files = [("files", (Path(path).name, Path(path).read_bytes())) for path in some]
            try:
                content = self._at.send("POST", f"/projects/{project_id}/documents", files=files).json()
            except ServerSaid as said:
                # None of these can be read: that is the end only where none of the others can.
                last = first + _FILES >= len(paths) and not uploaded.documents
                if last or "refused" not in said.body:
                    raise
                content = said.body
            answer = Uploaded.model_validate(content)
            uploaded.documents += answer.documents
            uploaded.refused += answer.refused
        return uploaded

    def documents(self, project_id: str) -> list[DocumentLine]:
        """Return the documents of a project, newest first."""
        return self._at.get(list[DocumentLine], f"/projects/{project_id}/documents")

    def document(self, document_id: str) -> Document:
        """Return a document with its pages and questions."""
        return self._at.get(Document, f"/documents/{document_id}")

    def words(self, page_id: str) -> Words:
        """Return the words of a page."""
        return self._at.get(Words, f"/pages/{page_id}/words")

    def image(self, page_id: str) -> bytes:
        """Return the picture of a page, byte for byte as it is stored."""
        return self._at.send("GET", f"/pages/{page_id}/image").content

    def mend(
        self, page_id: str, base: int, edits: Iterable[WordChange | dict[str, Any]], *, key: str | None = None
    ) -> MendedWords:
        """Mend the words of a page: their text, splits, merges, additions. `base`: the `version` of the words that were seen.

        edits: engine.annotation.word_list.WordChange or the same as dictionaries. ServerSaid with status 409 when somebody was
        faster; its body["current"] holds the words as they are now.
        """
        request = checked(MendRequest, idempotency_key=key or uuid.uuid4().hex, base=base, edits=list(edits))
        return self._at.put(MendedWords, f"/pages/{page_id}/words", request)

    def thumbnail(self, page_id: str, width: int = 160) -> bytes:
        """Return a small picture of a page."""
        return self._at.send("GET", f"/pages/{page_id}/thumbnail", params={"width": width}).content

    def encode(self, page_id: str) -> None:
        """Let the server encode a page, so that its first question is answered at once."""
        self._at.send("POST", f"/pages/{page_id}/encode")

    # --- answers

    def ask(self, document_id: str, question: str, page_id: str | None = None) -> AnnotationView:
        """Ask a document, or one page of it. The same question again returns the answer that is there."""
        body = {"question": question, "page_id": page_id}
        return self._at.post(AnnotationView, f"/documents/{document_id}/ask", body)

    def ask_more(self, annotation_id: str, pages: int | None = None) -> AnnotationView:
        """Ask further pages of a long document, the likeliest first; without `pages`, as many as the page would."""
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
        """Answer again with points (x, y, here or not) and a box, in pixels of the page. Changes no annotation."""
        body = {
            "page_id": page_id,
            "points": [list(point) for point in points],
            "box": list(box) if box else None,
            "mask": mask.model_dump(mode="json") if mask else None,
        }
        return self._at.post(Proposal, f"/annotations/{annotation_id}/refine", body)

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
        """Append a revision to `base`, the one that was seen (0: only the model had spoken).

        edits: engine.annotation.state.Edit or the same as dictionaries. seconds: of active work since the revision before.
        ServerSaid with status 409 when somebody was faster; its body["current"] is the newest version.
        """
        fields = {"edits": list(edits), "prediction_id": prediction_id, "seconds": seconds, "action": action}
        request = checked(RevisionRequest, idempotency_key=key or uuid.uuid4().hex, base=base, **fields)
        return self._at.put(Saved, f"/annotations/{annotation_id}/revisions", request)

    def accept(self, annotation_id: str, base: int, *, seconds: float = 0) -> Saved:
        """Accept the answer as it stands in `base`; where a project wants a review, that submits it."""
        return self.save(annotation_id, base, action="accept", seconds=seconds)

    def submit(self, annotation_id: str, base: int, *, seconds: float = 0) -> Saved:
        """Hand the answer in for a review."""
        return self.save(annotation_id, base, action="submit", seconds=seconds)

    def no_answer(self, annotation_id: str, base: int, *, seconds: float = 0) -> Saved:
        """Accept that the document does not answer."""
        edit = {"op": "no_answer", "value": True}
        return self.save(annotation_id, base, [edit], action="accept", seconds=seconds)

    def history(self, annotation_id: str) -> list[RevisionLine]:
        """Return the revisions of an answer, oldest first."""
        return self._at.get(list[RevisionLine], f"/annotations/{annotation_id}/revisions")
