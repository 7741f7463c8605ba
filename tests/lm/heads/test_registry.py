"""Heads of other packages change nothing of ours, whatever they are and however they are called."""

from pathlib import Path

import numpy as np
import pytest
from tests.packages import install

from numerate.errors import NumerateError
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import HeadOptions, TrainingNumerals
from numerate.lm.heads.combination import CombinationHead
from numerate.lm.heads.registry import head_class, head_names, paper_heads, usual_members
from numerate.plugins import HEADS

TABLE = NumeralTable(["7", "2.5", "10", "120"])
OVER_A_MODEL = TrainingNumerals(TABLE, np.ones(4, dtype=np.int64), ("7",), state_size=5)
SOURCE = """
from numerate.lm.heads.lm import LMHead

class Eager(LMHead):
    paper_row = 1
"""


@pytest.fixture
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = dict.fromkeys(["eager", "a.b", "type", "half"], "eager_head:Eager")
    entries = {HEADS: {**names, "broken": "no_such_module:Head"}}
    install(tmp_path / "site", "others", entries, eager_head=SOURCE)
    monkeypatch.syspath_prepend(tmp_path / "site")


def test_what_others_install_changes_no_default(request: pytest.FixtureRequest) -> None:
    papers, members = paper_heads(), usual_members(with_digits=True)
    request.getfixturevalue("others")
    assert {"eager", "broken"} <= set(head_names())
    assert head_class("eager").usual_member
    assert paper_heads() == papers
    assert len(papers) == 7
    assert usual_members(with_digits=True) == members


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize("name", ["a.b", "type", "half"])
def test_a_name_that_no_member_can_have_is_refused(name: str) -> None:
    with pytest.raises(NumerateError, match=rf"^head '{name}': got a name that cannot"):
        head_class(name)


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize(
    ("members", "said"),
    [
        (("lm", "eager", "mog"), "members: got lm, eager, mog, expected one at most with a "),
        (("h-softmax",), "members: got h-softmax, expected one at least that can write any "),
    ],
)
def test_members_that_do_not_go_together_are_told_in_one_line(
    members: tuple[str, ...], said: str
) -> None:
    with pytest.raises(NumerateError, match=f"^{said}"):
        CombinationHead.fit(OVER_A_MODEL, 6, HeadOptions(members=members))
