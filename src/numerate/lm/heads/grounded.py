"""The paper's combination with eyes: beside its members, copies of numbers in view and sums."""

from typing import ClassVar

from numerate.lm.heads.combination import CombinationHead
from numerate.lm.heads.registry import members_with_sight, usual_members


class GroundedHead(CombinationHead):
    """A combination of the usual members and of those that know numbers in view."""

    summary = "The combination with numbers in view: what it knows, copies, and what follows."
    paper_row: ClassVar[int | None] = None
    style = ("ink", "-")
    usual_sight = "tables"

    @classmethod
    def usual(cls, *, with_digits: bool) -> tuple[str, ...]:
        return (*usual_members(with_digits=with_digits), *members_with_sight())
