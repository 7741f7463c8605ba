"""A real S3 server on loopback, and a machine that has never heard of it."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import s3fs
from moto.server import ThreadedMotoServer


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Its address; the port is any that is free."""
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def machine(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of one that finds server and credentials in its environment."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "tests")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret-of-tests")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    s3fs.S3FileSystem.clear_instance_cache()  # which has the server of other tests
    return tmp_path / "cache"


@pytest.fixture
def s3(machine: Path) -> s3fs.S3FileSystem:
    """The server as others see it, who remember nothing."""
    return s3fs.S3FileSystem(use_listings_cache=False)


@pytest.fixture
def bucket(s3: s3fs.S3FileSystem) -> str:
    """A new one."""
    name = f"bucket-{uuid4().hex[:12]}"
    s3.mkdir(name)
    return name
