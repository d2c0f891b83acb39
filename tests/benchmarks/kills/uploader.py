"""People of the campaign: writers, correctors, and one who uploads and copies."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx

from tests.support.made_papers import pdf_of
from tests.support.retrying_writers import Writer

PAGES = 6  # of an uploaded document: all but the first are read by a job


@dataclass
class Uploader(Writer):
    """A person who uploads documents and copies them to another project.

    Attributes:
        other: Id of that project.
        uploaded: Ids of the uploaded documents.
    """

    other: str = ""
    uploaded: list[str] = field(default_factory=list)

    def act(self, http: httpx.Client, before: str | None) -> str | None:
        """Upload a document, and copy the one before, which is read by now or stays where it is."""
        number = len(self.uploaded)
        content = pdf_of(*[[f"Paper {number}", f"Page {page}", "Total due: 20.50 EUR"] for page in range(PAGES)])
        files = [("files", (f"paper {number}.pdf", content, "application/pdf"))]
        path = f"/projects/{self.project}/documents?early=true"
        answer = self.request(http, "POST", path, files=files)
        if answer is None:
            return None
        document = str(answer["documents"][0]["document_id"])
        self.uploaded.append(document)
        if before is not None:
            body = {"documents": [before], "to": self.other, "move": False}
            self.request(http, "POST", f"/projects/{self.project}/transfers", body, (202,))
        self.over.wait(1.0)
        return document
