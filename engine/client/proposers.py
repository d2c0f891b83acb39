"""The client's methods for the model of others that a project asks."""

from collections.abc import Sequence

from engine.client.schemas import JobView, ProposerState, ProposerView
from engine.client.transport import Connection


class Proposers:
    """Methods of engine.client.Glossator for another model that proposes answers."""

    _at: Connection

    def proposer(self, project_id: str) -> ProposerState:
        """Return the other model that a project asks, the allowed servers, and the tokens used. For reviewers."""
        return self._at.get(ProposerState, f"/projects/{project_id}/proposer")

    def set_proposer(
        self,
        project_id: str,
        kind: str,
        url: str,
        model: str,
        *,
        prompt: str = "",
        api_key: str | None = None,
        alone: bool = False,
        automatic: bool = False,
    ) -> ProposerView:
        """Let a project ask another model. For admins of the project.

        kind: "openai" or "http".
        url: its address, at a server that the administrator allows.
        model: its name, as its server knows it.
        prompt: what it is told; empty: the text of Glossator.
        api_key: None keeps the key for the same server, "" removes it.
        alone: ask it instead of the project's own model.
        automatic: ask it about new documents by itself.
        """
        texts = {"kind": kind, "url": url, "model": model, "prompt": prompt, "api_key": api_key}
        body = {**texts, "alone": alone, "automatic": automatic}
        return self._at.put(ProposerView, f"/projects/{project_id}/proposer", body)

    def remove_proposer(self, project_id: str) -> None:
        """Let a project ask no other model, forget its key and stop its job. For admins of the project."""
        self._at.send("DELETE", f"/projects/{project_id}/proposer", repeatable=False)

    def request_proposals(
        self, project_id: str, documents: Sequence[str] | None = None, *, again: bool = False
    ) -> JobView:
        """Ask the other model about documents, as a job; None: all that were not asked about. For reviewers.

        A job that waits or runs already takes the request too.
        """
        body = {"documents": None if documents is None else list(documents), "again": again}
        return self._at.post(JobView, f"/projects/{project_id}/proposer/requests", body)
