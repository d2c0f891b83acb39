"""A real nginx with the configuration of deploy/nginx, but for addresses and a certificate of its own."""

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.repository import ROOT
from tests.support.server_process import free_port

DEPLOYED = ROOT / "deploy" / "nginx"
HOST = "glossator.example.org"
CHOSEN = "chosen.log"  # a line for each request: path, and the server that it went to
_SERVER = "    server 127.0.0.1:7860;"
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def nginx_program() -> str:
    """Return the path of nginx, or skip the test where it is not installed."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        pytest.skip("nginx is not installed (Debian: nginx-light).")
    return program


def write_configuration(folder: Path, servers: Sequence[int]) -> tuple[Path, int]:
    """Write a configuration that leads to servers on ports of this machine.

    Returns:
        The file, and the port on which nginx will take TLS connections.
    """
    certificate, key, tls = folder / "certificate.pem", folder / "key.pem", free_port()
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={HOST}"]
    subprocess.run([*made, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    site = (DEPLOYED / "glossator.conf").read_text()
    for deployed, here in (
        (f"/etc/ssl/glossator/{HOST}.pem", str(certificate)),
        (f"/etc/ssl/glossator/{HOST}.key", str(key)),
        ("listen 443 ssl;", f"listen 127.0.0.1:{tls} ssl;"),
        ("listen 80;", f"listen 127.0.0.1:{free_port()};"),
    ):
        assert site.count(deployed) == 1, deployed
        site = site.replace(deployed, here)
    upstreams = (DEPLOYED / "upstreams.conf").read_text()
    every = "\n".join(f"    server 127.0.0.1:{port};" for port in servers)
    before, files = upstreams.split("upstream glossator_files")
    assert before.count(_SERVER) == 2 and files.count(_SERVER) == 1
    upstreams = before.replace(_SERVER, every) + "upstream glossator_files" + files.replace("7860", str(servers[0]))
    temporary = " ".join(f"{name}_temp_path {folder / name};" for name in _TEMPORARY)
    chosen = f"log_format chosen '$uri $upstream_addr'; access_log {folder / CHOSEN} chosen;"
    whole = folder / "nginx.conf"
    whole.write_text(
        f"pid {folder / 'nginx.pid'}; error_log {folder / 'error.log'}; daemon off; worker_processes 1;\n"
        f"events {{}}\nhttp {{\n{temporary}\n{chosen}\n{upstreams}\n{site}}}\n"
    )
    return whole, tls


@contextlib.contextmanager
def running_nginx(folder: Path, servers: Sequence[int]) -> Iterator[int]:
    """Run nginx before servers on these ports, and yield its port for TLS."""
    program = nginx_program()
    configuration, port = write_configuration(folder, servers)
    process = subprocess.Popen([program, "-c", str(configuration), "-e", str(folder / "error.log")])
    try:
        latest = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            assert process.poll() is None and time.monotonic() < latest, (folder / "error.log").read_text()
            time.sleep(0.02)
        yield port
    finally:
        process.terminate()
        process.wait()
