"""Shapes of JSON files: what fits, and the one line about what does not."""

import json
from pathlib import Path
from typing import Any

import pytest

from numerate.errors import RunError
from numerate.records import Shape, misfit, read_record

SHAPE: dict[str, Shape] = {
    "name": str,
    "size": int,
    "rate": float,
    "on": bool,
    "note": (str, None),
    "files": [str],
    "inner": {"count": int, "maybe?": float, "*": [int]},
    "any": dict,
}
GOOD: dict[str, Any] = {
    "name": "x",
    "size": 3,
    "rate": 2,
    "on": True,
    "note": None,
    "files": [],
    "inner": {"count": 1, "a": [1], "b": []},
    "any": {"x": [None]},
    "more": "is allowed",
}


def test_what_fits() -> None:
    assert misfit(GOOD, SHAPE) is None
    assert misfit({**GOOD, "note": "n", "rate": 0.5, "files": ["a", "b"]}, SHAPE) is None
    assert misfit({**GOOD, "inner": {"count": 1, "maybe": 0.5}}, SHAPE) is None


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"name": 5}, "name: got 5, expected a string"),
        ({"size": True}, "size: got true, expected a whole number"),
        ({"size": 2.0}, "size: got 2.0, expected a whole number"),
        ({"rate": float("nan")}, "rate: got NaN, expected a number"),
        ({"rate": False}, "rate: got false, expected a number"),
        ({"on": 1}, "on: got 1, expected true or false"),
        ({"note": [1]}, "note: got a list, expected a string or null"),
        ({"files": "a"}, 'files: got "a", expected a list'),
        ({"files": ["a", None]}, "files[1]: got null, expected a string"),
        ({"inner": {}}, "inner.count is missing"),
        ({"inner": []}, "inner: got a list, expected an object"),
        ({"inner": {"count": 1, "maybe": "x"}}, 'inner.maybe: got "x", expected a number'),
        ({"inner": {"count": 1, "z": {}}}, "inner.z: got an object, expected a list"),
        ({"any": 1}, "any: got 1, expected an object"),
    ],
)
def test_what_does_not_fit(change: dict[str, Any], wrong: str) -> None:
    assert misfit({**GOOD, **change}, SHAPE) == wrong


def test_every_key_that_is_missing_is_named() -> None:
    for key in SHAPE:
        assert misfit({k: v for k, v in GOOD.items() if k != key}, SHAPE) == f"{key} is missing"


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with pytest.raises(FileNotFoundError):
        read_record(path, SHAPE, RunError)
    path.write_text(json.dumps(GOOD))
    assert read_record(path, SHAPE, RunError) == GOOD
    for content, reason in (
        (b"{", "cannot be read"),
        (b"\xff", "cannot be read"),
        (b"[" * 100_000, "cannot be read"),
        (b"7", "got 7, expected an object"),
        (b'"' + b"x" * 1000 + b'"', "got .{60}, expected an object"),
        (b'{"name": "\\u001b[2J"}', "size is missing"),
    ):
        path.write_bytes(content)
        with pytest.raises(RunError, match=rf"a\.json: {reason}"):
            read_record(path, SHAPE, RunError)
    path.write_bytes(b"9" * 5000)  # more digits than Python turns into a number
    with pytest.raises(RunError, match=r"a\.json: cannot be read"):
        read_record(path, SHAPE, RunError)
