"""Blobs: there whole, or not at all."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from db.blobs import BlobFolder, BlobMissing, sha256_of


def test_a_blob_is_named_by_its_content(tmp_path: Path) -> None:
    blobs = BlobFolder(tmp_path / "blobs")
    sha256 = blobs.put(b"page")
    assert sha256 == hashlib.sha256(b"page").hexdigest()
    assert blobs.read(sha256) == b"page" and blobs.size(sha256) == 4
    assert blobs.put(b"page") == sha256
    assert len([path for path in blobs.folder.rglob("*") if path.is_file()]) == 1


def test_a_file_is_stored_as_the_same_blob_as_its_bytes(tmp_path: Path) -> None:
    blobs = BlobFolder(tmp_path / "blobs")
    source = tmp_path / "file"
    source.write_bytes(b"x" * 3_000_000)
    assert blobs.put_file(source) == blobs.put(source.read_bytes()) == sha256_of(source)
    blobs.put_file(source)
    assert not list(blobs.folder.glob(".new-*"))


def test_a_blob_that_is_gone_is_named_in_the_error(tmp_path: Path) -> None:
    blobs = BlobFolder(tmp_path / "blobs")
    with pytest.raises(BlobMissing, match="is missing"):
        blobs.read("0" * 64)
    assert blobs.size("0" * 64) is None


def test_a_name_that_is_no_hash_reaches_no_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    blobs = BlobFolder(tmp_path / "blobs")
    for name in ("../secret", "..", "", "A" * 64, "0" * 63):
        with pytest.raises(ValueError, match="not a SHA-256"):
            blobs.read(name)


def test_an_interrupted_write_leaves_no_blob(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = BlobFolder(tmp_path / "blobs")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("db.blobs.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        blobs.put(b"page")
    assert [path for path in blobs.folder.rglob("*") if path.is_file()] == []


def test_sweep_deletes_files_of_killed_processes_and_no_others(tmp_path: Path) -> None:
    blobs = BlobFolder(tmp_path / "blobs")
    write = (
        "import sys, pathlib; from db.blobs import BlobFolder\n"
        "with BlobFolder(pathlib.Path(sys.argv[1]))._temporary() as (file, name):\n"
        "    file.write(b'confidential'); file.flush(); print(name, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", write, str(blobs.folder)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    writers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(2)
    ]
    killed, written = (Path(one.stdout.readline().strip()) for one in writers if one.stdout)
    writers[0].kill()
    writers[0].wait()
    kept = blobs.put(b"page")
    assert killed.exists() and blobs.clean_up() == 1
    assert not killed.exists() and written.read_bytes() == b"confidential" and blobs.read(kept) == b"page"
    writers[1].communicate("")
    assert blobs.clean_up() == 0
