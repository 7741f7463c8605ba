"""A file system that nobody should ask, and a network that nobody should use."""

import socket
from typing import Any

import fsspec
import pytest
from fsspec.spec import AbstractFileSystem

ASKED: list[str] = []  # what was tried


class Trap(AbstractFileSystem):
    """Whoever makes one has been led to an address."""

    protocol = "trap"
    cachable = False

    def __init__(self, *_: Any, **__: Any) -> None:
        ASKED.append("trap://")
        raise OSError("a stranger's address was opened")


fsspec.register_implementation("trap", Trap, clobber=True)

ADDRESSES = (
    "trap://evil/data",
    "TRAP://evil/data",
    "simplecache::trap://evil/data",
    "zip://data::trap://evil/data.zip",
    "file:///tmp/data",
    "http://127.0.0.1:9/data",
    "s3://evil/data",
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was asked of other file systems and other machines."""

    def refuse(_: socket.socket, address: object) -> None:
        ASKED.append(str(address))
        raise OSError("a test must not use the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    ASKED.clear()
    return ASKED
