"""The process that reads a file keeps its own files, and nothing else of the machine."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from engine.confinement import missing_parts
from engine.documents.limits import ReadLimits
from engine.documents.reading.forked_readers import FORKS
from engine.documents.reading.open import environment
from engine.version import ROOT
from tests.support import made_documents as made
from tests.support.made_papers import bill_pdf
from tests.support.waiting import wait_until

pytestmark = pytest.mark.skipif(
    bool(missing_parts()), reason=f"this kernel does not keep processes from {missing_parts()}"
)

# Code that stands for a file which has taken the process over: it runs where pages are read, and then reads them.
_TAKEN_OVER = """
import json, os, resource, socket, subprocess, sys
from engine.documents.reading import child, reading
request, others = json.loads(sys.argv[1]), json.loads(sys.argv[2])
read_pages = reading.read_pages

def outcome(attempt):
    try:
        attempt()
    except (OSError, ValueError) as error:
        return getattr(error, "errno", None) or str(error)
    return "done"

def take_over(source, out_dir, limits, *, tell):
    attempts = {
        "read the list of users": lambda: open("/etc/passwd").read(),
        "read a file beside its input": lambda: open(others["secret"]).read(),
        "read variables of its parent": lambda: open(f"/proc/{os.getppid()}/environ").read(),
        "write into the home folder": lambda: open(os.path.expanduser("~/left-behind"), "w"),
        "write beside its input": lambda: open(others["secret"] + ".new", "w"),
        "write over its input": lambda: open(source, "r+b"),
        "delete a file": lambda: os.unlink(others["secret"]),
        "cut a file": lambda: os.truncate(others["secret"], 0),
        "open a file to all": lambda: os.chmod(others["secret"], 0o777),
        "date a file back": lambda: os.utime(others["secret"], (0, 0)),
        "move a file here": lambda: os.rename(others["secret"], os.path.join(out_dir, "taken")),
        "link a file here": lambda: os.link(others["secret"], os.path.join(out_dir, "taken")),
        "connect": lambda: socket.create_connection(("127.0.0.1", others["port"]), 5),
        "listen": lambda: socket.create_server(("127.0.0.1", 0)),
        "reach a socket in a file": lambda: socket.socket(socket.AF_UNIX).connect(others["socket"]),
        "run a program": lambda: subprocess.run(["/bin/sh", "-c", "true"], check=True),
        "signal its parent": lambda: os.kill(os.getppid(), 0),
        "see whether a process is there": lambda: os.kill(1, 0),
        "leave its group": lambda: os.setpgid(0, 0) or os.setsid(),
        "ask for limits of its parent": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CPU),
        "give itself memory": lambda: resource.setrlimit(resource.RLIMIT_AS, (-1, -1)),
        "make a program in memory": lambda: os.memfd_create("program"),
    }
    if limits.ocr == "rapidocr":
        attempts["fork"] = lambda: os.fork() or os._exit(0)
        attempts["run Tesseract"] = lambda: subprocess.run(["tesseract", "--version"], check=True)
    tell(attempts={name: outcome(attempt) for name, attempt in attempts.items()})
    read_pages(source, out_dir, limits, tell=tell)

reading.read_pages = take_over
os._exit(child.read(request))
"""

# A machine whose kernel has no Landlock, or a container that does not allow it: its system calls are unknown.
_WITHOUT_LANDLOCK = """
import ctypes, struct, sys
from pathlib import Path
from engine.confinement import kernel
calls = [(0x20, 0, 0, 0), (0x35, 0, 2, 444), (0x25, 1, 0, 446), (0x06, 0, 0, 0x50000 | 38), (0x06, 0, 0, 0x7FFF0000)]
class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))
kernel.prctl(38, 1)
kernel.seccomp(1, 0, ctypes.byref(Program(len(calls), b"".join(struct.pack("<HBBI", *call) for call in calls))))
from engine.confinement import NotConfined, not_confined_sentence
from engine.documents.limits import ReadLimits
from engine.documents.reading.open import read_document
source, out = Path(sys.argv[1]), Path(sys.argv[2])
print(not_confined_sentence("available"))
for confinement in ("required", "available"):
    try:
        read = read_document(source, name="bill", limits=ReadLimits(confinement=confinement), out_dir=out)
    except NotConfined as error:
        print(error)
    else:
        print(len(read.pages), "page")
"""


# A process may be confined by Landlock 16 times, and is refused the next time: the reader gets the filter alone.
_LANDLOCK_REFUSES = """
import socket, sys
from pathlib import Path
from engine.confinement import NotConfined, Reach, confine, kernel, landlock
from engine.documents.limits import ReadLimits
from engine.documents.reading.open import read_document
kernel.prctl(38, 1)
for _ in range(16):
    landlock.restrict([(Path("/"), ~landlock.Access(0))])
source, out = Path(sys.argv[1]), Path(sys.argv[2])
for confinement in ("required", "available"):
    try:
        print(len(read_document(source, name="bill", limits=ReadLimits(confinement=confinement), out_dir=out).pages))
    except NotConfined as error:
        print(error)
print(confine(Reach(), "available"))
try:
    socket.socket()
except OSError as error:
    print(error.strerror)
"""


def read_taken_over(
    tmp_path: Path, limits: ReadLimits, connections: int = 0
) -> tuple[dict[str, Any], list[dict[str, Any]], Path]:
    """Return what came of each attempt, and what the process said of the file, and the file that is not its own."""
    source, secret, out = tmp_path / "bill.pdf", tmp_path / "secret.txt", tmp_path / "pages"
    source.write_bytes(bill_pdf(7))
    secret.write_text("of somebody else")
    out.mkdir()
    request = {"source": str(source), "out_dir": str(out), "limits": asdict(limits)}
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(tmp_path / "socket"))
        local.listen()
        server.setblocking(False)
        others = {"secret": str(secret), "port": server.getsockname()[1], "socket": str(tmp_path / "socket")}
        done = subprocess.run(
            [sys.executable, "-P", "-c", _TAKEN_OVER, json.dumps(request), json.dumps(others)],
            env=environment() | {"HOME": str(tmp_path)},
            stdout=subprocess.PIPE,
            check=True,
        )
        for _ in range(connections):
            server.accept()
        with pytest.raises(BlockingIOError):
            server.accept()
    attempts, *said = map(json.loads, done.stdout.splitlines())
    return attempts["attempts"], said, secret


@pytest.mark.parametrize("ocr", ["rapidocr", "auto"])
def test_code_in_a_reading_process_reaches_nothing_but_its_own_files(tmp_path: Path, ocr: Any) -> None:
    attempts, said, secret = read_taken_over(tmp_path, ReadLimits(ocr=ocr, confinement="required"))
    denied = {errno.EACCES, errno.EPERM, errno.EXDEV, "not allowed to raise maximum limit"}
    assert {name: came for name, came in attempts.items() if came not in denied} == {}
    assert len(attempts) == (24 if ocr == "rapidocr" else 22)
    assert said[-1] == {"finished": True} and "B7" in json.dumps(said)
    assert secret.read_text() == "of somebody else" and secret.stat().st_mtime > 1
    left = {path.name for path in tmp_path.rglob("*")}
    assert left == {"bill.pdf", "secret.txt", "socket", "pages", "page-0001.png"}


def test_without_confinement_the_same_code_reaches_them(tmp_path: Path) -> None:
    attempts, said, _ = read_taken_over(tmp_path, ReadLimits(ocr="rapidocr", confinement="off"), connections=1)
    reached = ("read the list of users", "write beside its input", "connect", "run a program", "signal its parent")
    assert [attempts[name] for name in reached] == ["done"] * len(reached)
    assert said[-1] == {"finished": True}


def test_a_forked_reader_is_confined_as_one_that_was_started(tmp_path: Path) -> None:
    source = made.endless_pdf(tmp_path / "endless.pdf")
    request = {"source": str(source), "out_dir": str(tmp_path), "limits": asdict(ReadLimits(confinement="required"))}
    assert FORKS.enabled
    reader = FORKS.start(request, environment())
    assert reader is not None
    try:
        status = Path(f"/proc/{reader.pid}/status")
        wait_until(lambda: "Seccomp:\t2" in status.read_text() and "NoNewPrivs:\t1" in status.read_text())
    finally:
        os.killpg(reader.pid, signal.SIGKILL)
        reader.wait()


def test_where_the_kernel_lacks_a_part_files_are_read_or_refused_as_the_setting_says(tmp_path: Path) -> None:
    source = tmp_path / "bill.pdf"
    source.write_bytes(bill_pdf(7))
    command = [sys.executable, "-c", _WITHOUT_LANDLOCK, str(source), str(tmp_path / "pages")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    warning, refusal, read = done.stdout.splitlines()
    missing = "files of others (the kernel has no Landlock, or does not allow it)"
    assert warning == f"Processes that open uploads are not kept from {missing}."
    assert "GLOSSATOR_READER_CONFINEMENT is required" in refusal and missing in refusal
    assert read == "1 page"


def test_a_part_that_the_kernel_refuses_leaves_the_others_in_force_and_is_logged(tmp_path: Path) -> None:
    source = tmp_path / "bill.pdf"
    source.write_bytes(bill_pdf(7))
    command = [sys.executable, "-c", _LANDLOCK_REFUSES, str(source), str(tmp_path / "pages")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    refusal, pages, refused, connecting = done.stdout.splitlines()
    part = "files of others (Argument list too long)"
    assert part in refusal and (pages, refused) == ("1", str([part]))
    assert connecting in (os.strerror(errno.EACCES), os.strerror(errno.EPERM))
    assert f"The reading process is not kept from {part}." in done.stderr
