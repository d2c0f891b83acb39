"""Commands that hang, flood and leave children behind."""

import os
import sys
import time
from pathlib import Path

import pytest

from engine.documents.reading.subprocess_guard import run_guarded


def run(code: str, seconds: float = 10.0) -> tuple[list[bytes], int, bool, str]:
    lines: list[bytes] = []
    ended = run_guarded([sys.executable, "-c", code], environment={}, seconds=seconds, on_line=lines.append)
    return lines, ended.code, ended.late, ended.stderr


def test_lines_arrive_whole_however_they_are_written() -> None:
    code = (
        "import sys,time\nfor part in ('a', 'b\\nc', '\\n\\nd\\n', 'tail'): "
        "sys.stdout.write(part); sys.stdout.flush(); time.sleep(.01)"
    )
    assert run(code)[:3] == ([b"ab", b"c", b"", b"d"], 0, False)


def test_a_command_that_hangs_is_killed_in_time() -> None:
    start = time.monotonic()
    _, code, late, _ = run("import time; time.sleep(60)", seconds=0.5)
    assert late and code == -9
    assert time.monotonic() - start < 5


def test_what_the_command_started_dies_with_it(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    code = (
        "import subprocess, sys, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"pathlib.Path({str(pid_file)!r}).write_text(str(child.pid))\n"
    )
    _, exit_code, late, _ = run(code, seconds=2.0)
    pid = int(pid_file.read_text())
    assert late or exit_code == 0  # the grandchild may hold the pipe open until the end
    for _ in range(50):
        if not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split(")")[1][:3]:
            break
        time.sleep(0.05)
    else:
        pytest.fail(f"process {pid} outlived the command")


def test_only_the_end_of_a_flood_of_errors_is_kept() -> None:
    _, code, _, stderr = run("import sys; sys.stderr.write('x' * 2_000_000 + 'the end'); sys.exit(3)")
    assert code == 3
    assert stderr.endswith("the end") and len(stderr) <= 1 << 14


def test_the_environment_is_the_one_given() -> None:
    os.environ["SECRET_OF_THE_SERVER"] = "x"
    try:
        lines = run("import os; print('SECRET_OF_THE_SERVER' in os.environ)")[0]
    finally:
        del os.environ["SECRET_OF_THE_SERVER"]
    assert lines == [b"False"]


def test_the_time_that_the_listener_takes_is_not_the_command_s() -> None:
    heard: list[bytes] = []

    def store(line: bytes) -> None:
        time.sleep(1.0)
        heard.append(line)

    code = "for page in range(5): print(page)"
    ended = run_guarded([sys.executable, "-c", code], environment={}, seconds=3.0, on_line=store)
    assert (ended.late, ended.code, len(heard)) == (False, 0, 5)
