"""Which files are part of others."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.documents.taken_in import taken_in

FILES = st.sampled_from("abcdef")


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"a": "", "b": "ac", "c": "a"}, "ac"),
        ({"a": "b", "b": "a"}, "b"),
        ({"a": "a"}, ""),
        ({"a": "bc", "b": "ac", "d": "bac"}, "abc"),
    ],
)
def test_files_that_are_part_of_others(parts: Mapping[str, str], expected: str) -> None:
    assert taken_in(parts) == {*expected}


@given(st.dictionaries(FILES, st.sets(FILES)))
def test_nothing_is_lost(direct: dict[str, set[str]]) -> None:
    def all_of(file: str) -> set[str]:
        found, left = set[str](), [file]
        while left:
            new = direct.get(left.pop(), set()) - found
            found |= new
            left += new
        return found

    parts = {file: all_of(file) & direct.keys() for file in direct}
    kept = direct.keys() - taken_in(parts)
    assert kept.union(*(parts[file] for file in kept)) == direct.keys()
    for file in kept:
        assert not any(file in parts[other] for other in kept - {file})
