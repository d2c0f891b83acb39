"""Blobs in an object store: as in a folder, and what is read lies beside."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fsspec
import pytest

from db.blobs import BlobFolder, BlobMissing, StoreUnavailable, key_of
from engine.errors import Refused
from engine.settings import Settings
from engine.storage import store_at
from engine.storage.object_store import ObjectStore
from engine.storage.remote_blobs import RemoteBlobs

OpenStore = Callable[..., RemoteBlobs]
PIECE = 200_000  # bytes


def blob(seed: int) -> bytes:
    return bytes([seed]) * PIECE


def drop_copies(blobs: RemoteBlobs) -> None:
    shutil.rmtree(blobs.folder)
    blobs.folder.mkdir()


def test_every_store_keeps_blobs_as_a_folder_does(remote: RemoteBlobs, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(os.urandom(3_000_000))
    folder = BlobFolder(tmp_path / "folder")
    for store in (folder, remote):
        names = [store.put(b"page"), store.put(b"page"), store.put(b""), store.put_file(source)]
        assert store.put_file(source) == names[3]
        assert [store.size(name) for name in names] == [4, 4, 0, 3_000_000]
        assert all(name in store for name in names) and "0" * 64 not in store
    drop_copies(remote)
    for store in (folder, remote):
        assert store.read(names[0]) == b"page" and store.read(names[2]) == b""
        assert store.path(names[3]).read_bytes() == source.read_bytes()
        assert b"".join(store.chunks(names[3], 7, 2_000_003)) == source.read_bytes()[7:2_000_003]
        assert b"".join(store.chunks(names[3])) == source.read_bytes()
        store.remove(names[0])
        store.remove(names[0])
        for read in (store.read, store.path, lambda name, of=store: list(of.chunks(name))):
            with pytest.raises(BlobMissing, match="is missing from"):
                read(names[0])
        with pytest.raises(ValueError, match="not a SHA-256"):
            store.read("../" + "a" * 61)
        store.check_writable()
    listed = [[(line.sha256, line.bytes) for line in store.list_blobs()] for store in (folder, remote)]
    assert listed[0] == listed[1] == sorted([(names[2], 0), (names[3], 3_000_000)])
    assert all(line.modified > 1e9 for line in remote.list_blobs())


def test_a_blob_that_was_changed_in_the_store_is_refused(remote: RemoteBlobs, settings: Settings) -> None:
    name = remote.put(b"page")
    ObjectStore(settings.blobs, settings.blobs_options).put(key_of(name), b"eggs")
    assert remote.read(name) == b"page"  # the copy
    drop_copies(remote)
    with pytest.raises(BlobMissing, match="its content is not that of its name"):
        remote.read(name)
    assert not [path for path in remote.folder.rglob("*") if path.is_file()]


def test_a_blob_that_was_cut_off_in_the_store_is_written_again(remote: RemoteBlobs, settings: Settings) -> None:
    name = remote.put(b"page")
    ObjectStore(settings.blobs, settings.blobs_options).put(key_of(name), b"pa")
    remote.put(b"page")
    drop_copies(remote)
    assert remote.read(name) == b"page"


def test_local_copies_stay_within_the_limit_the_oldest_go(in_memory: OpenStore) -> None:
    blobs = in_memory(1.0)
    names = [blobs.put(blob(seed)) for seed in range(4)]
    for age, name in enumerate(names):
        os.utime(blobs.path(name), (1e9 + age, 1e9 + age))
    blobs = in_memory(1.0)  # which holds no path
    with blobs.open(names[0]):  # used now
        pass
    names += [blobs.put(blob(seed)) for seed in range(4, 8)]
    copies = {line.sha256 for line in BlobFolder(blobs.folder).list_blobs()}
    assert len(copies) * PIECE <= 1_000_000
    assert names[7] in copies
    assert [blobs.read(name) for name in names] == [blob(seed) for seed in range(8)]


def test_a_copy_that_is_read_or_whose_path_is_held_stays(in_memory: OpenStore) -> None:
    blobs = in_memory(0.3)
    held, opened = blobs.put(blob(1)), blobs.put(blob(2))
    path, file = blobs.path(held), blobs.open(opened)
    for seed in range(3, 20):
        blobs.put(blob(seed))
    assert path.read_bytes() == blob(1)
    with file:
        assert file.read() == blob(2)
    assert sum(line.bytes for line in BlobFolder(blobs.folder).list_blobs()) <= 3 * PIECE


def test_another_process_deletes_no_copy_whose_path_is_held(in_memory: OpenStore) -> None:
    blobs = in_memory(100)
    held, free = blobs.put(blob(1)), blobs.put(blob(2))
    path = blobs.path(held)
    trim = (
        "import sys, pathlib; from engine.storage.blob_cache import BlobCache\n"
        "print(BlobCache(pathlib.Path(sys.argv[1]), 1).trim())"
    )
    command = [sys.executable, "-c", trim, str(blobs.folder)]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() == "1"
    assert path.read_bytes() == blob(1)
    assert not (blobs.folder / key_of(free)).exists() and blobs.read(free) == blob(2)


def test_readers_and_trims_at_once_lose_nothing(in_memory: OpenStore) -> None:
    blobs = in_memory(0.5)
    names = [blobs.put(blob(seed)) for seed in range(12)]

    def read_all(first: int) -> int:
        for at in range(36):
            seed = (first + at) % 12
            content = blobs.read(names[seed]) if at % 2 else blobs.path(names[seed]).read_bytes()
            assert content == blob(seed)
        return 36

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(read_all, range(0, 12, 3))) == 4 * 36


def test_an_interrupted_upload_leaves_no_blob(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = ObjectStore(f"file://{tmp_path}/objects", {}, patience=0)

    def cut(_files: object, place: str, _content: bytes, **_: object) -> None:
        Path(place).write_bytes(b"pa")
        raise ConnectionResetError("cut off")

    monkeypatch.setattr(fsspec.get_filesystem_class("file"), "pipe_file", cut)
    with pytest.raises(StoreUnavailable, match=r"does not answer \(cut off\); nothing was saved"):
        objects.put("a/b", b"page")
    assert objects.size("a/b") is None and list(objects.list_objects()) == []


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("nowhere://bucket", "no address of an object store"),
        ("/srv/files", "no address of an object store"),
        ("dropbox://files", "needs a package that is not installed"),
    ],
)
def test_an_address_that_names_no_store_is_refused(tmp_path: Path, address: str, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        store_at(Settings(data_dir=tmp_path, _env_file=None), address)


def test_the_keys_of_a_store_are_not_shown(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, blobs_options={"secret": "hush"}, _env_file=None)
    assert "hush" not in repr(settings) and settings.blobs_options["secret"] == "hush"
