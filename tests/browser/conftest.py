"""A real server (`glossator serve`) and Debian's Chromium, driven by Playwright."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.bench import Bench
from tests.conftest import needed

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 30_000  # milliseconds: two busy cores answer a cold first question late
START_SECONDS = 180  # a cold start on two busy cores: torch, Gradio, migration, the model


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a server with an empty database of its own."""
    folder = tmp_path_factory.mktemp("served")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GLOSSATOR_")}
    if model := os.environ.get("GLOSSATOR_MODEL_PATH"):
        kept["GLOSSATOR_MODEL_PATH"] = model
    command = [str(Path(sys.executable).with_name("glossator")), "serve", "--port", str(port), "--no-worker"]
    with (folder / "server.log").open("w") as log:
        running = subprocess.Popen(
            command,
            cwd=folder,
            env={**kept, "GLOSSATOR_DATA_DIR": str(folder / "data")},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(address, running, folder / "server.log")
        yield address
    finally:
        running.terminate()
        try:
            running.wait(timeout=20)
        except subprocess.TimeoutExpired:
            running.kill()


def _wait_for(address: str, running: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if running.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{address}/api/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    pytest.fail(f"The server did not start:\n{log.read_text()[-4000:]}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    executable = shutil.which("chromium")
    if executable is None:
        needed("Browser tests need Chromium (Debian package: chromium).")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def bench(server: str, browser: Browser) -> Iterator[Bench]:
    """The workspace in a fresh browser profile. What the page's scripts throw fails the test."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page: Page = context.new_page()
    thrown: list[str] = []
    page.on("pageerror", lambda error: thrown.append(f"{error}\n{error.stack}"))
    page.goto(f"{server}/app/")
    page.wait_for_selector(".glossator[data-started]")
    yield Bench(page, server)
    context.close()
    assert not thrown, thrown[0]
