"""The client's methods for documents, pages and words."""

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from engine.client.schemas import (
    BinLine,
    ChangedDocuments,
    Document,
    DocumentLine,
    DocumentTraces,
    DocumentView,
    EditedWords,
    EmptiedBin,
    Extraction,
    ExtractionBegun,
    JobView,
    PushedResult,
    TransferPreview,
    TransferView,
    TurnedPage,
    UndoneTransfer,
    Uploaded,
    WordChange,
    WordEditsRequest,
    Words,
)
from engine.client.transport import Connection, ServerSaid, build_request, plain

MOST_FILES = 50  # in one request; the server takes no more


class Documents:
    """Methods of engine.client.Glossator for documents, their pages and the words on them."""

    _at: Connection

    def upload(self, project_id: str, *paths: str | Path) -> Uploaded:
        """Upload files to a project. The same bytes again are the same document.

        More files than one request may hold are sent in several. Raises ServerSaid when no file can be read.
        """
        uploaded = Uploaded(documents=[], refused=[])
        for first in range(0, max(1, len(paths)), MOST_FILES):
            some = paths[first : first + MOST_FILES]
            files = [("files", (Path(path).name, Path(path).read_bytes())) for path in some]
            try:
                content = self._at.send("POST", f"/projects/{project_id}/documents", files=files).json()
            except ServerSaid as said:
                # No file of this request can be read. That is a failure only when no other file can be read either.
                last = first + MOST_FILES >= len(paths) and not uploaded.documents
                if last or "refused" not in said.body:
                    raise
                content = said.body
            answer = Uploaded.model_validate(content)
            uploaded.documents += answer.documents
            uploaded.refused += answer.refused
        return uploaded

    def extract(
        self,
        project_id: str,
        path: str | Path,
        *,
        schema: dict[str, Any] | None = None,
        keep: bool = True,
        version: str | None = None,
        callback: str | None = None,
    ) -> Extraction | ExtractionBegun:
        """Return the values of a file with their places; of a long one that is still being read, its document's id.

        schema: JSON Schema of the wanted object, in place of the project's fields.
        keep: whether the file becomes a document; otherwise nothing of it is stored.
        version: id or name of the model version that answers; None: the one in use.
        callback: address that gets the values of a kept file as signed messages, once it is read and once people have
            decided on its unsure fields.
        """
        files = [("file", (Path(path).name, Path(path).read_bytes()))]
        form = {} if schema is None else {"schema": json.dumps(schema)}
        query = {"keep": "true" if keep else "false", "version": version, "callback": callback}
        query = {name: value for name, value in query.items() if value is not None}
        return _extraction(
            self._at.send("POST", f"/projects/{project_id}/extract", files=files, data=form, params=query).json()
        )

    def extract_document(
        self, document_id: str, *, schema: dict[str, Any] | None = None, version: str | None = None
    ) -> Extraction | ExtractionBegun:
        """Return the values of a document as they stand; see `extract`."""
        body = {} if schema is None else {"schema": schema}
        query = {} if version is None else {"version": version}
        return _extraction(self._at.send("POST", f"/documents/{document_id}/extract", json=body, params=query).json())

    def push_predictions(
        self, document_id: str, model: str, predictions: Sequence[dict[str, Any]], *, version: str = ""
    ) -> PushedResult:
        """Propose another model's answers to people who have not answered yet; each says what became of it.

        model, version: its name, and its version for people.
        predictions: each with `question` or `field`, and `text` or `marks`, as the route takes them.
        """
        body = {"model": model, "version": version, "predictions": list(predictions)}
        return self._at.post(PushedResult, f"/documents/{document_id}/predictions", body)

    def documents(
        self, project_id: str, ids: Sequence[str] | None = None, *, query: str | None = None, sort: str | None = None
    ) -> list[DocumentLine]:
        """Return all documents of a project, page after page; see `each_document`."""
        return list(self.each_document(project_id, ids, query=query, sort=sort))

    def each_document(
        self, project_id: str, ids: Sequence[str] | None = None, *, query: str | None = None, sort: str | None = None
    ) -> Iterator[DocumentLine]:
        """Yield the documents of a project, fetched in pages while they are used.

        ids: only these, 100 at most.
        query: only documents that have each of these words in the name, or printed on a page as the beginning of a
            word.
        sort: "-created", newest first and the default, or "name".
        """
        path = f"/projects/{project_id}/documents"
        return self._at.each(DocumentLine, path, id=ids, q=query, sort=sort)

    def document(self, document_id: str) -> Document:
        """Return a document with its pages and questions."""
        return self._at.get(Document, f"/documents/{document_id}")

    def marked_pdf(self, document_id: str, path: str | Path) -> Path:
        """Write a document as a PDF with its accepted answers, as highlights and notes, and return its path."""
        out = Path(path)
        self._at.download(f"/documents/{document_id}/marked.pdf", out)
        return out

    def original(self, document_id: str, path: str | Path) -> Path:
        """Write the file of a document as it was uploaded, and return its path."""
        out = Path(path)
        self._at.download(f"/documents/{document_id}/original", out)
        return out

    def rename_document(self, document_id: str, name: str, *, before: str | None = None) -> DocumentView:
        """Rename a document (reviewers).

        before: name that you saw. Raises ServerSaid when it is another one by now; None: do not check.
        """
        return self._at.patch(DocumentView, f"/documents/{document_id}", {"name": name, "before": before})

    def remove_documents(self, project_id: str, document_ids: Sequence[str]) -> list[str]:
        """Remove documents into the bin of their project; return those that were not there already.

        document_ids: at most 1,000.
        """
        body = {"documents": list(document_ids)}
        return self._at.post(ChangedDocuments, f"/projects/{project_id}/documents/remove", body).documents

    def preview_transfer(self, project_id: str, document_ids: Sequence[str], to: str, *, move: bool) -> TransferPreview:
        """Return what `transfer` would do with documents, and what would stay behind."""
        body = {"documents": list(document_ids), "to": to, "move": move}
        return self._at.post(TransferPreview, f"/projects/{project_id}/transfers/preview", body)

    def transfer(
        self, project_id: str, document_ids: Sequence[str], to: str, *, move: bool, add_fields: bool = True
    ) -> TransferView:
        """Move or copy documents to another project with their answers, as a job; see `transfer_state`.

        document_ids: at most 1,000.
        to: id of the other project.
        add_fields: whether to add missing fields there, as an admin of it; its documents get tasks then.
        """
        body = {"documents": list(document_ids), "to": to, "move": move, "add_fields": add_fields}
        return self._at.post(TransferView, f"/projects/{project_id}/transfers", body)

    def transfer_state(self, project_id: str, transfer_id: str) -> TransferView:
        """Return how far a transfer is, or what it did."""
        return self._at.get(TransferView, f"/projects/{project_id}/transfers/{transfer_id}")

    def undo_transfer(self, project_id: str, transfer_id: str) -> UndoneTransfer:
        """Undo a move; a document that was changed in the other project since stays there, and a sentence says so."""
        return self._at.post(UndoneTransfer, f"/projects/{project_id}/transfers/{transfer_id}/undo")

    def bin(self, project_id: str) -> list[BinLine]:
        """Return the documents in the bin of a project, last removed first."""
        return self._at.all(BinLine, f"/projects/{project_id}/bin")

    def document_traces(self, project_id: str, document_id: str, *, offset: int = 0) -> DocumentTraces:
        """Return what holds a document of a project or of its bin, or has learned from it (admins).

        offset: number of newer traces to leave out; one answer has 1,000 at most, and `total` counts all.
        """
        values = {"document": document_id, "offset": offset}
        return self._at.get(DocumentTraces, f"/projects/{project_id}/traces", **values)

    def restore_documents(self, project_id: str, document_ids: Sequence[str]) -> list[str]:
        """Restore documents from the bin with their answers; return those that this restored.

        document_ids: at most 1,000.
        """
        body = {"documents": list(document_ids)}
        return self._at.post(ChangedDocuments, f"/projects/{project_id}/bin/restore", body).documents

    def empty_bin(self, project_id: str, document_ids: Sequence[str] | None = None) -> EmptiedBin:
        """Delete documents in the bin for good. A document that a snapshot holds stays, and a sentence says so.

        document_ids: at most 1,000; None: all documents in the bin.
        """
        body = {"documents": list(document_ids) if document_ids is not None else None}
        return self._at.post(EmptiedBin, f"/projects/{project_id}/bin/empty", body)

    def stop_reading(self, document_id: str) -> None:
        """Stop the reading of a long document at its next step. The pages read so far stay."""
        self._at.send("POST", f"/documents/{document_id}/reading/stop")

    def resume_reading(self, document_id: str) -> None:
        """Read the pages that are missing since reading was stopped."""
        self._at.send("POST", f"/documents/{document_id}/reading/resume")

    def read_again(self, document_id: str, page_id: str | None = None) -> JobView:
        """Read a document again by OCR, or one page of it; a job does it. Words that people fixed stay."""
        if page_id is not None:
            return self._at.post(JobView, f"/pages/{page_id}/read-again")
        return self._at.post(JobView, f"/documents/{document_id}/read-again")

    def turn(self, page_id: str, degrees: int = 90, *, seen: str | None = None) -> TurnedPage:
        """Turn a page clockwise by 90, 180 or 270 degrees; turning it back undoes that.

        seen: the `image` of the page that you saw.
        Raises ServerSaid (409) when answers mark the page, or it has another image by now.
        """
        body = {"degrees": degrees, "image": seen}
        return self._at.post(TurnedPage, f"/pages/{page_id}/turn", body, repeatable=seen is not None)

    def image(self, page_id: str) -> bytes:
        """Return the picture of a page as the server stores it."""
        return self._at.send("GET", f"/pages/{page_id}/image").content

    def thumbnail(self, page_id: str, width: int = 160) -> bytes:
        """Return a small picture of a page. `width`: in pixels."""
        return self._at.send("GET", f"/pages/{page_id}/thumbnail", params={"width": width}).content

    def encode(self, page_id: str) -> None:
        """Let the server encode a page now, so that its first question is answered at once."""
        self._at.send("POST", f"/pages/{page_id}/encode")

    def words(self, page_id: str) -> Words:
        """Return the words of a page in reading order. Boxes are pixels, right and lower edge exclusive."""
        return self._at.get(Words, f"/pages/{page_id}/words")

    def edit_words(
        self, page_id: str, base: int, edits: Iterable[WordChange | dict[str, Any]], *, key: str | None = None
    ) -> EditedWords:
        """Fix the words of a page: change their text, split, merge, add, remove and restore them.

        base: the `version` of the words that you saw.
        edits: such as engine.client.WordText, or the same as dictionaries.
        Raises ServerSaid (409) when somebody saved before you; its body["current"] holds the words as they are now.
        """
        request = build_request(
            WordEditsRequest, idempotency_key=key or uuid.uuid4().hex, base=base, edits=plain(edits)
        )
        return self._at.put(EditedWords, f"/pages/{page_id}/words", request)

    mend = edit_words  # the name before, which scripts may call


def _extraction(content: dict[str, Any]) -> Extraction | ExtractionBegun:
    return Extraction.model_validate(content) if "format" in content else ExtractionBegun.model_validate(content)
