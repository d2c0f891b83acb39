"""A PgBouncer before a PostgreSQL, in transaction mode: each transaction may run in another process of the server."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from sqlalchemy.engine import make_url

from tests.conftest import needed
from tests.support.server_process import free_port

_SECONDS = 20


@contextmanager
def pooled(address: str, servers: int = 3) -> Iterator[str]:
    """Yield the address of a database through a PgBouncer.

    Args:
        address: of the database.
        servers: connections to it that all clients share.
    """
    program = shutil.which("pgbouncer") or shutil.which("/usr/sbin/pgbouncer")
    if program is None:
        needed("Tests of a pooler need PgBouncer (Debian: pgbouncer).")
    parts, port = make_url(address.replace("postgresql://", "postgresql+psycopg://", 1)), free_port()
    query = {name: value for name, value in parts.query.items() if isinstance(value, str)}
    host = parts.host or query["host"]
    place = f"host={host} port={parts.port or query.get('port', 5432)} user={parts.username}"
    with tempfile.TemporaryDirectory(prefix="glossator-pgbouncer-") as folder:
        settings = Path(folder) / "pgbouncer.ini"
        settings.write_text(
            f"[databases]\n{parts.database} = {place} dbname={parts.database}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
            f"listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n"
            f"default_pool_size = {servers}\nmax_client_conn = 200\nquery_wait_timeout = 30\n"
        )
        Path(folder).chmod(0o755)
        # It refuses to run as root; who owns the socket of the server may use it.
        user = Path(host).stat().st_uid if os.getuid() == 0 else None
        settings.chmod(0o644)
        with subprocess.Popen([program, "--quiet", str(settings)], user=user, stderr=subprocess.PIPE) as pooler:
            pooled_address = f"postgresql://{parts.username}@127.0.0.1:{port}/{parts.database}"
            try:
                _wait(pooled_address, pooler)
                yield pooled_address
            finally:
                pooler.kill()


def _wait(address: str, pooler: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + _SECONDS
    while True:
        try:
            psycopg.connect(address).close()
            return
        except psycopg.OperationalError:
            assert pooler.poll() is None, pooler.stderr.read().decode() if pooler.stderr else ""
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
