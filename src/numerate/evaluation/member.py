"""`RUN:MEMBER`, a member of a combination by itself: what does one strategy know?"""

from pathlib import Path

from numerate.errors import RunError
from numerate.heads.base import NumeralHead
from numerate.heads.combination import CombinationHead
from numerate.model.language_model import LanguageModel
from numerate.model.output import HierarchicalOutput
from numerate.pretrained.head_model import HeadModel


def split_reference(reference: str | Path) -> tuple[Path, str | None]:
    """The folder of a run, and the member that is asked for, if one is."""
    folder, colon, member = str(reference).rpartition(":")
    if not colon or Path(reference).exists() or not Path(folder).is_dir():
        return Path(reference), None
    return Path(folder), member


def keep_member(model: LanguageModel | HeadModel, member: str, folder: Path) -> None:
    """Leave nothing of the model's combination but one member."""
    holder = model.output if isinstance(model, LanguageModel) else model
    head = getattr(holder, "head", None)
    if not isinstance(head, CombinationHead):
        raise RunError(f"{folder}: {model.config.model} has no members, so no {member!r}")
    alone = _alone(head, member, folder)
    if isinstance(holder, HierarchicalOutput):
        holder.head, holder.open_vocabulary = alone, True
    elif isinstance(holder, HeadModel):
        holder.head = alone
        if member not in head.given:
            holder.adapter = None


def _alone(head: CombinationHead, member: str, folder: Path) -> NumeralHead:
    names = [name for name in head.names if name in head.given or _is_open(head, name)]
    if member not in names:
        closed = ": it has no probability for numerals that it does not know"
        raise RunError(
            f"{folder}: member {member!r}{closed if member in head.names else ''}; "
            f"expected one of {', '.join(names)}"
        )
    if member in head.given:
        size = head.weights.shape[1]
        return CombinationHead(size, {}, given=(member,)).to(head.weights.device)
    found: NumeralHead = head.members[member]  # type: ignore[assignment]
    return found


def _is_open(head: CombinationHead, member: str) -> bool:
    return bool(head.members[member].open_vocabulary)
