"""`RUN:MEMBER`, a member of a combination by itself: what does one strategy know?"""

from pathlib import Path

from numerate.errors import RunError
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
    if not isinstance(holder, HierarchicalOutput | HeadModel) or not isinstance(
        holder.head, CombinationHead
    ):
        raise RunError(f"{folder}: {model.config.model} has no members, so no {member!r}")
    every = {name: holder.head.alone(name) for name in holder.head.names}
    known = [name for name, head in every.items() if head.open_vocabulary]
    if member not in known:
        closed = ": it has no probability for numerals that it does not know"
        raise RunError(
            f"{folder}: member {member!r}{closed if member in every else ''}; "
            f"expected one of {', '.join(known)}"
        )
    if isinstance(holder, HierarchicalOutput):
        holder.open_vocabulary = True
    elif member not in holder.head.given:
        holder.adapter = None  # of the language model's digits, which take no part
    holder.head = every[member]
