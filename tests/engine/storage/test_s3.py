"""A real S3 server that is stopped, started, and whose keys are wrong."""

import os
import threading
import uuid
from pathlib import Path

import pytest

from db.blobs import StoreUnavailable
from engine.storage.blob_cache import BlobCache
from engine.storage.object_store import ObjectStore
from engine.storage.remote_blobs import RemoteBlobs
from tests.support.s3_server import BUCKET, S3Server
from tests.support.waiting import wait_until


def test_a_server_stopped_and_started_loses_nothing(s3: S3Server, tmp_path: Path) -> None:
    objects = ObjectStore(f"s3://{BUCKET}/{uuid.uuid4().hex}", s3.options)
    blobs = RemoteBlobs(objects, BlobCache(tmp_path / "copies", 100_000_000))
    contents = [os.urandom(50_000) for _ in range(60)]
    acknowledged: dict[str, bytes] = {}

    def put_all(first: int) -> None:
        for content in contents[first::2]:
            acknowledged[blobs.put(content)] = content

    threads = [threading.Thread(target=put_all, args=(first,)) for first in range(2)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(acknowledged) > 10)
    s3.stop()
    assert len(acknowledged) < 60
    s3.start()
    for thread in threads:
        thread.join()
    assert len(acknowledged) == 60
    fresh = RemoteBlobs(objects, BlobCache(tmp_path / "others", 100_000_000))
    assert {name: fresh.read(name) for name in acknowledged} == acknowledged
    assert {line.sha256 for line in fresh.list_blobs()} == set(acknowledged)


def test_a_large_file_is_stored_in_parts_and_read_by_ranges(s3: S3Server, tmp_path: Path) -> None:
    objects = ObjectStore(f"s3://{BUCKET}/{uuid.uuid4().hex}", s3.options)
    blobs = RemoteBlobs(objects, BlobCache(tmp_path / "copies", 1))
    source = tmp_path / "source"
    source.write_bytes(os.urandom(1 << 20) * 110)  # above two parts of s3fs
    name = blobs.put_file(source)
    with blobs.open(name) as file:
        assert file.read() == source.read_bytes()


def test_a_server_that_stays_away_or_refuses_is_named_in_a_sentence(s3: S3Server) -> None:
    quick = {"config_kwargs": {"retries": {"max_attempts": 0}}}
    away = ObjectStore(f"s3://{BUCKET}/x", {**s3.options, **quick, "endpoint_url": "http://127.0.0.1:9"}, patience=0)
    with pytest.raises(StoreUnavailable, match=r"does not answer .* nothing was saved"):
        away.put("a", b"page")
    refused = ObjectStore(f"s3://{BUCKET}/x", {**s3.options, **quick, "secret": "wrong"}, patience=0)
    with pytest.raises(StoreUnavailable, match="refuses access"):
        refused.put("a", b"page")
    bucketless = ObjectStore("s3://nobody/x", {**s3.options, **quick}, patience=0)
    with pytest.raises(StoreUnavailable, match="does not exist"):
        bucketless.put("a", b"page")
