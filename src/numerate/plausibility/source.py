"""Which model a command uses."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numerate.model.numeral_lm import NumeralLM


@dataclass(frozen=True, slots=True)
class ModelSource:
    """What was said of a model on the command line; nothing is opened before `load`."""

    run: str  # the folder of a run, or hf:PATH
    dataset: Path | None = None  # where it is now, if it has moved; one for hf:PATH
    cache: Path | None = None  # of pretrained models; None: a folder of the user's
    trust_remote_code: bool = False
    device: str | None = None  # None: the best there is

    def load(self) -> "NumeralLM":
        from numerate.plausibility.load import load

        return load(
            self.run,
            self.dataset,
            cache=self.cache,
            trust_remote_code=self.trust_remote_code,
            device=self.device,
        )
