"""The tools for language models, as a client of the protocol uses them: over standard input and output, and HTTP."""

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from engine.mcp_tools import build_server
from tests.support.client_house import House, member
from tests.support.made_papers import bill_pdf
from tests.support.repository import ROOT
from tests.support.server_process import free_port
from tests.support.waiting import wait_until

Tools = Callable[[Client], Awaitable[Any]]


def stored_bill(house: House, folder: Path, name: str) -> str:
    """Store a bill in a project of its own; return the document's id."""
    path = folder / "bill.pdf"
    path.write_bytes(bill_pdf(7, "12.50 EUR"))
    with house.as_("ada") as ada:
        project = ada.create_project(name).id
        member(house, project, "ann", "annotator")
        return ada.upload(project, path).documents[0].document_id


async def said(client: Client, tool: str, **arguments: Any) -> Any:
    """Content of a tool's answer: structured, else its texts and kinds of pictures."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    if answer.structured_content is not None:
        return answer.structured_content
    return [getattr(part, "text", None) or getattr(part, "mime_type", "") for part in answer.content]


def within(transport: Any, use: Tools) -> Any:
    async def run() -> Any:
        async with Client(transport) as client:
            return await use(client)

    return run_apart(run)


def run_apart(work: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
    """Run a coroutine in a thread: Playwright's loop may stand in that of the tests."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, work, *arguments).result()


def test_a_document_is_listed_read_asked_and_extracted(house: House, tmp_path: Path) -> None:
    document = stored_bill(house, tmp_path, "tools")
    schema = {"properties": {"total_due": {"type": "number"}}}

    async def use(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == {
            "list_documents", "get_page", "ask", "extract",
        }  # fmt: skip
        listed = await said(client, "list_documents", project="tools")
        assert [(line["id"], line["name"]) for line in listed["result"]] == [(document, "bill.pdf")]
        text, picture = await said(client, "get_page", document_id=document, picture=True)
        assert "Total due: 12.50 EUR" in text and picture == "image/png"
        asked = await said(client, "ask", document_id=document, question="What is the bill number?")
        assert asked["text"] == "B7" and asked["places"][0]["page"] == 1
        values = await said(client, "extract", document_id=document, schema=schema)
        assert values["fields"]["total_due"]["values"][0]["printed"] == "12.50 EUR"
        missing = await client.call_tool("get_page", {"document_id": document, "number": 2})
        assert missing.is_error and "no page 2" in json.dumps(missing.model_dump(mode="json"))

    within(build_server(house.address, house.tokens["ada"]), use)


def test_the_command_serves_over_standard_input_with_the_rights_of_its_token(house: House, tmp_path: Path) -> None:
    stored_bill(house, tmp_path, "by command")
    (tmp_path / "token").write_text(house.tokens["ann"] + "\n")
    command = ["-m", "engine.cli", "mcp", "--address", house.address, "--token-file", str(tmp_path / "token")]
    process = StdioServerParameters(command=sys.executable, args=command, env={**os.environ, "PYTHONPATH": str(ROOT)})

    async def use(client: Client) -> None:
        assert [line["name"] for line in (await said(client, "list_documents", project="by command"))["result"]] == [
            "bill.pdf"
        ]
        refused = await client.call_tool("list_documents", {"project": "somebody else's"})
        assert refused.is_error and "by command" in json.dumps(refused.model_dump(mode="json"))

    within(stdio_client(process), use)


def test_over_http_each_call_has_the_rights_of_its_own_token(house: House, tmp_path: Path) -> None:
    document = stored_bill(house, tmp_path, "over http")
    port = free_port()
    command = [sys.executable, "-m", "engine.cli", "mcp", "--address", house.address, "--http", "--port", str(port)]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=tmp_path)
    url = f"http://127.0.0.1:{port}/mcp"

    def answers() -> bool:
        try:
            return httpx2.get(url).status_code < 500
        except httpx2.TransportError:
            return False

    async def listed(token: str | None) -> Any:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            return await client.call_tool("list_documents", {"project": "over http"})

    try:
        wait_until(answers)
        known = run_apart(listed, house.tokens["ann"])
        assert [line["id"] for line in known.structured_content["result"]] == [document]
        stranger = run_apart(listed, None)
        assert stranger.is_error and "Log in first." in json.dumps(stranger.model_dump(mode="json"))
    finally:
        process.terminate()
        process.wait()
