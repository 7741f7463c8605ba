"""What is compared with what: a suite is a list of rows, a row a model and how it is trained."""

from collections.abc import Callable
from dataclasses import dataclass

from numerate.config import PRETRAINED
from numerate.errors import NumerateError, check_choice
from numerate.lm.heads.registry import (
    check_head_name,
    head_class,
    head_names,
    members_with_sight,
    paper_heads,
    usual_members,
)

PAPER = "paper"
SCRATCH = ("lstm", "transformer")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the tables: what `numerate train` is told beyond what all rows have in common."""

    name: str  # also that of the folder of its run
    model: str
    backbone: str = SCRATCH[0]
    sight: str = "none"
    members: tuple[str, ...] = ()  # of a combination; none: the usual ones
    finetune: str = "none"
    is_trained: bool = True  # a pretrained model as it comes is not

    @property
    def is_pretrained(self) -> bool:
        return self.backbone not in SCRATCH


def rows_of(suite: str, backbone: str | None = None) -> tuple[Row, ...]:
    """All rows of a suite, of which one needs a pretrained `backbone`, hf:PATH, and others none."""
    check_choice("suite", suite, SUITES)
    needed = suite == "pretrained"
    if needed and (backbone is None or not backbone.startswith(PRETRAINED)):
        got = "none" if backbone is None else repr(backbone)
        raise NumerateError(f"backbone: got {got} for the suite {suite}, expected {PRETRAINED}PATH")
    if backbone is not None and not needed:
        raise NumerateError(
            f"backbone: got {backbone!r} for the suite {suite}, which has its own; "
            "expected --suite pretrained"
        )
    return SUITES[suite](backbone or SCRATCH[0])


def chosen_rows(names: tuple[str, ...], rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Those of these names; one that is no row of the suite is a head, trained as the paper's,
    with its usual sight. Beside a pretrained model none is trained from scratch."""
    known = {row.name: row for row in rows}
    for name in names:
        if rows[0].is_pretrained:
            check_choice("model", name, known)
        elif name not in known:
            check_head_name(name)
    if len(set(names)) < len(names):
        raise NumerateError(f"models: got one twice in {', '.join(names)}")
    return tuple(
        known.get(name) or Row(name, name, sight=head_class(name).usual_sight) for name in names
    )


def _paper(_: str) -> tuple[Row, ...]:
    """The paper's seven."""
    return tuple(Row(name, name) for name in paper_heads())


def _heads(_: str) -> tuple[Row, ...]:
    """The paper's seven, every other head that stands alone, also of other packages, and what they
    are measured against: a model that sees tables."""
    return (
        *(Row(name, name) for name in _standing_alone()),
        Row("grounded", "grounded", sight="tables"),
    )


def _grounded(_: str) -> tuple[Row, ...]:
    """Without sight and with more and more of it; then without one of what makes use of it."""
    rows = []
    for backbone in SCRATCH:
        kind = "" if backbone == SCRATCH[0] else f"-{backbone}"
        rows.append(Row(f"combination{kind}", "combination", backbone))
        rows += [
            Row(f"grounded-{sight}{kind}", "grounded", backbone, sight)
            for sight in ("paragraph", "tables", "document")
        ]
    seeing = members_with_sight()
    for left_out in seeing:
        members = (*usual_members(with_digits=False), *(one for one in seeing if one != left_out))
        rows.append(Row(f"grounded-no-{left_out}", "grounded", sight="tables", members=members))
    return tuple(rows)


def _pretrained(backbone: str) -> tuple[Row, ...]:
    """The model as it comes, heads over its frozen states, and the model trained with them."""
    return (
        Row("bare", "lm", backbone, is_trained=False),
        Row("bare-tables", "lm", backbone, "tables", is_trained=False),
        *(Row(name, name, backbone) for name in _standing_alone(over_pretrained=True)),
        Row("grounded", "grounded", backbone, "tables"),
        Row("lm-lora", "lm", backbone, finetune="lora"),
        Row("combination-lora", "combination", backbone, finetune="lora"),
        Row("grounded-lora", "grounded", backbone, "tables", finetune="lora"),
    )


def _standing_alone(*, over_pretrained: bool = False) -> list[str]:
    """All heads that need nothing beside them, the paper's first."""
    names = dict.fromkeys([*paper_heads(), *head_names()])
    return [name for name in names if _stands_alone(name, over_pretrained=over_pretrained)]


def _stands_alone(name: str, *, over_pretrained: bool) -> bool:
    """Whether a head needs no numbers in sight, and fits what it stands on.

    A pretrained model has words of its own, and from scratch there are no digits to pass on.
    """
    try:
        kind = head_class(name)
    except NumerateError:
        return True  # its training will say what is wrong with it
    sees_nothing = not kind.needs_sight and kind.usual_sight == "none"
    return sees_nothing and not (kind.flat if over_pretrained else kind.needs_digits)


SUITES: dict[str, Callable[[str], tuple[Row, ...]]] = {
    PAPER: _paper,
    "heads": _heads,
    "grounded": _grounded,
    "pretrained": _pretrained,
}
