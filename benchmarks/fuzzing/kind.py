"""What a kind of damaged input has to be."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Setting:
    """What a kind may use to make its inputs."""

    sources: list[Path]  # as the user gave them; none: what the tests have
    workspace: Path  # a folder of its own, where it keeps what is to be damaged


class Kind(Protocol):
    """A generator of damaged inputs, and what is done with them.

    `use` ends with a word for how the input was received, or in a `NumerateError`, which is an
    answer too: `refused`. Whatever else it raises is a crash.
    """

    share: float  # of all inputs, relative to the other kinds

    def __init__(self, setting: Setting) -> None: ...

    def damage(self, chance: random.Random, folder: Path) -> str:
        """Write one damaged input into an empty folder; what was done, in words."""
        ...

    def use(self, folder: Path) -> str:
        """Do with it what a user does, in this process."""
        ...
