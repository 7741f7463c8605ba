"""Shapes of JSON files: what fits, and the one line about what does not."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from numerate.errors import RunError
from numerate.storage.records import Shape, Unbounded, misfit, read_record, typed

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


@dataclass(frozen=True)
class Inner:
    count: int
    rate: float = 0.5


@dataclass(frozen=True)
class Outer:
    names: tuple[str, ...]
    pair: tuple[float, float | None]
    by_name: dict[str, Inner]
    loss: Unbounded
    anything: Any
    inner: Inner | None = None
    many: list[Inner] = field(default_factory=list)


FITTING: dict[str, Any] = {
    "names": ["a"],
    "pair": [1, None],
    "by_name": {"x": {"count": 2}},
    "loss": float("inf"),
    "anything": [None],
    "inner": {"count": 1, "rate": 2},
    "more": "is ignored",
}


def test_a_dataclass_is_the_shape_of_its_fields() -> None:
    assert misfit(FITTING, Outer) is None
    found = typed(Outer, FITTING)
    inner = Inner(1, 2.0)
    expected = Outer(("a",), (1.0, None), {"x": Inner(2)}, Unbounded("inf"), [None], inner)
    assert found == expected
    assert isinstance(found.pair[0], float)
    assert typed(Outer, {**FITTING, "inner": None, "many": [{"count": 3}]}).many == [Inner(3)]


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"names": "a"}, 'names: got "a", expected a list'),
        ({"names": ["\ud800"]}, r'names[0]: got "\ud800", expected a string'),
        ({"pair": [1]}, "pair: got 1 items, expected 2"),
        ({"pair": ["x", 1]}, 'pair[0]: got "x", expected a number'),
        ({"by_name": {"x": {}}}, "by_name.x.count is missing"),
        ({"loss": True}, "loss: got true, expected a number"),
        ({"loss": 10**400}, f"loss: got 1{'0' * 59}, expected a number"),
        ({"pair": [1, 10**400]}, f"pair[1]: got 1{'0' * 59}, expected a number or null"),
        ({"inner": {"count": "x"}}, 'inner.count: got "x", expected a whole number'),
        ({"inner": 5}, "inner: got 5, expected an object or null"),
        ({"many": [{"rate": 1}]}, "many[0].count is missing"),
    ],
)
def test_what_does_not_fit_a_dataclass(change: dict[str, Any], wrong: str) -> None:
    assert misfit({**FITTING, **change}, Outer) == wrong
