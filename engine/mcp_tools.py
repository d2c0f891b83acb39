"""Tools of a Glossator server for language models, by the Model Context Protocol (modelcontextprotocol.io).

Each tool sends REST requests with the token of who calls it, so it may do what that token may do and nothing else. Over
standard input and output, one token stands for the whole process; over HTTP, the bearer token of each request is passed
on. Needs the extra `mcp`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

from engine.client.glossator import Glossator
from engine.client.schemas import Extraction
from engine.client.transport import ServerSaid

MOST_LISTED = 200  # documents of one list
INSTRUCTIONS = (
    "Glossator answers questions about documents with marks on their pages. Find a document with list_documents, then "
    "ask it, extract the values of its fields, or look at a page. `answered` below .5 means that the document may not "
    "answer. Values that a person should check are named in `unsure`."
)
Project = Annotated[str | None, Field(description="Name of the project; without it, the only one that you see.")]
DocumentId = Annotated[str, Field(description="Id from list_documents.")]


class ListedDocument(BaseModel):
    """A document of a project."""

    id: str
    name: str
    pages: int


class MarkedPlace(BaseModel):
    """Place of an answer on a page, in pixels of its picture."""

    page: int
    box: tuple[int, int, int, int] = Field(description="x0, y0, x1, y1")
    width: int
    height: int


class AskedAnswer(BaseModel):
    """Answer of the model; it is stored as a draft of yours."""

    annotation_id: str
    text: str = Field(description="Marked words; empty where nothing is marked.")
    values: list[Any] = Field(description="Typed values, where the question is a field.")
    confidence: float | None = Field(description="Predicted IoU of the mark, 0..1; null without a proposal.")
    answered: float | None = Field(description="Probability that the document answers, 0..1; null without a proposal.")
    places: list[MarkedPlace]


def build_server(address: str, token: str | None = None, *, passes_tokens: bool = False) -> MCPServer[Any]:
    """Return an MCP server with the tools of a Glossator server.

    Args:
        address: Of the Glossator server, as "http://127.0.0.1:7860".
        token: Token of all calls; None: the server needs no login.
        passes_tokens: Whether each call brings its own token, in the header Authorization; `token` is not used then.
    """
    server: MCPServer[Any] = MCPServer("glossator", instructions=INSTRUCTIONS)

    @contextmanager
    def reached(context: Context) -> Iterator[Glossator]:
        own = _bearer(context) if passes_tokens else token
        try:
            with Glossator(address, token=own) as client:
                yield client
        except ServerSaid as said:
            raise ToolError(str(said)) from None

    _add_reading_tools(server, reached)
    _add_asking_tools(server, reached)
    return server


Reach = Callable[[Context], Any]


def _add_reading_tools(server: MCPServer[Any], reached: Reach) -> None:
    @server.tool()
    def list_documents(
        context: Context,
        project: Project = None,
        query: Annotated[str | None, Field(description="Words of the name or printed on a page.")] = None,
        limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 50,
    ) -> list[ListedDocument]:
        """List the documents of a project, newest first."""
        with reached(context) as client:
            listed = client.each_document(_project_id(client, project), query=query)
            return [ListedDocument(id=line.id, name=line.name, pages=line.pages) for line in islice(listed, limit)]

    @server.tool(structured_output=False)
    def get_page(
        context: Context,
        document_id: DocumentId,
        number: Annotated[int, Field(ge=1, description="Number of the page.")] = 1,
        picture: Annotated[bool, Field(description="Whether the picture of the page is wanted, too.")] = False,
    ) -> list[str | Image]:
        """Return the words of a page in lines, and its picture on request."""
        with reached(context) as client:
            document = client.document(document_id)
            page = next((page for page in document.pages if page.number == number), None)
            if page is None:
                raise ToolError(f"The document has {len(document.pages)} pages, and no page {number}.")
            words = client.words(page.id)
            lines: dict[int, list[str]] = {}
            for text, line in zip(words.texts, words.lines, strict=True):
                lines.setdefault(line, []).append(text)
            content: list[str | Image] = ["\n".join(" ".join(line) for line in lines.values())]
            if picture:
                image = client.image(page.id)
                content.append(Image(data=image, format="jpeg" if image.startswith(b"\xff\xd8") else "png"))
            return content


def _add_asking_tools(server: MCPServer[Any], reached: Reach) -> None:
    @server.tool()
    def ask(context: Context, document_id: DocumentId, question: Annotated[str, Field(max_length=1000)]) -> AskedAnswer:
        """Ask a question about a document; the answer is marked on a page and stored as a draft."""
        with reached(context) as client:
            view = client.ask(document_id, question)
            pages = {page.id: page for page in client.document(document_id).pages}
            marks = [] if view.state.no_answer else view.state.pages.items()
            return AskedAnswer(
                annotation_id=view.id,
                text=view.text,
                values=[value.value for value in view.values],
                confidence=view.proposal.score if view.proposal is not None else None,
                answered=view.proposal.answered if view.proposal is not None else None,
                places=[
                    MarkedPlace(
                        page=pages[key].number, box=mark.mask.box, width=pages[key].width, height=pages[key].height
                    )
                    for key, mark in marks
                    if key in pages and mark.mask.counts
                ],
            )

    @server.tool()
    def extract(
        context: Context,
        document_id: DocumentId,
        schema: Annotated[
            dict[str, Any] | None,
            Field(description="JSON Schema of the wanted object, in place of the project's fields."),
        ] = None,
    ) -> dict[str, Any]:
        """Return the typed values of a document's fields with their places, and which of them a person should check."""
        with reached(context) as client:
            extraction = client.extract_document(document_id, schema=schema)
            if not isinstance(extraction, Extraction):
                raise ToolError(extraction.detail)
            content: dict[str, Any] = extraction.model_dump(mode="json")
            return content


def _project_id(client: Glossator, name: str | None) -> str:
    """Return the id of a project by its name; without a name, of the only one. Raises ToolError."""
    projects = {project.name: project.id for project in client.projects()}
    if name is None and len(projects) == 1:
        return next(iter(projects.values()))
    if name not in projects:
        raise ToolError(f"Name one of these projects: {', '.join(sorted(projects)) or 'there are none'}.")
    return projects[name]


def _bearer(context: Context) -> str | None:
    """Return the token of a request over HTTP; None without one."""
    kind, _, token = (context.headers or {}).get("authorization", "").partition(" ")
    return token.strip() or None if kind.lower() == "bearer" else None


def read_token(path: Path) -> str:
    """Return the token in a file, so that it stands in no list of processes. Raises OSError."""
    return path.read_text("utf-8").strip()
