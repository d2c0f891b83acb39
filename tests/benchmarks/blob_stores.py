"""Rates of storing and reading files: the data folder, and a real S3 server on this machine.

python -m tests.benchmarks.blob_stores [--files 200] [--kilobytes 200]; wants the extras s3 and s3-server.
"""

import argparse
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from db.blobs import BlobFolder, BlobStore
from engine.storage.blob_cache import BlobCache
from engine.storage.object_store import ObjectStore
from engine.storage.remote_blobs import RemoteBlobs
from tests.support.s3_server import BUCKET, S3Server, program


def rate(act: Callable[[object], object], over: Iterable[object], at_once: int) -> tuple[float, int]:
    """Return seconds for acting on all, so many at once, and their number."""
    work = list(over)
    began = time.perf_counter()
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(act, work))
    return time.perf_counter() - began, len(work)


def measure(name: str, store: BlobStore, files: int, size: int, forget: Callable[[], None]) -> None:
    """Print the rates of a store, by one and by eight threads; `forget` deletes local copies."""
    for at_once in (1, 8):
        contents = [os.urandom(size) for _ in range(files)]
        names = [hashlib.sha256(content).hexdigest() for content in contents]
        rows = [("put", rate(store.put, contents, at_once))]  # type: ignore[arg-type]
        forget()
        rows += [("read", rate(store.read, names, at_once)), ("read again", rate(store.read, names, at_once))]  # type: ignore[arg-type]
        for what, (seconds, number) in rows:
            megabytes = number * size / 1e6
            print(f"{name:<12} {what:<11} {at_once} {number / seconds:9.0f} files/s {megabytes / seconds:8.1f} MB/s")


def main() -> None:
    """Measure both stores."""
    parser = argparse.ArgumentParser(description="Rates of storing and reading files.")
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--kilobytes", type=int, default=200)
    chosen = parser.parse_args()
    if program() is None:
        sys.exit("No S3 server: pip install -c constraints.txt -e '.[s3,s3-server]'")
    with tempfile.TemporaryDirectory() as name:
        place, size = Path(name), chosen.kilobytes * 1000
        measure("folder", BlobFolder(place / "blobs"), chosen.files, size, lambda: None)
        (place / "s3").mkdir()
        server = S3Server(place / "s3")
        server.start()
        try:
            cache = BlobCache(place / "copies", 10**10)
            store = RemoteBlobs(ObjectStore(f"s3://{BUCKET}/bench", server.options), cache)

            def forget() -> None:
                shutil.rmtree(cache.folder)
                cache.folder.mkdir()

            measure("S3 gateway", store, chosen.files, size, forget)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
