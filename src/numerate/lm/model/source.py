"""Which model a command uses, and texts to try it with."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from numerate.errors import NumerateError, printable

if TYPE_CHECKING:
    from numerate.lm.backbones.pretrained.block_reader import Readers
    from numerate.lm.model.numeral_lm import NumeralLM

SHORTEST, LONGEST = 150, 900  # characters of a text that is read at a glance
LEAST_NUMERALS = 3


@dataclass(frozen=True, slots=True)
class ModelSource:
    """What was said of a model on the command line; nothing is opened before `load`."""

    run: str  # the folder of a run, or hf:PATH
    dataset: Path | None = None  # where it is now, if it has moved; one for hf:PATH
    cache: Path | None = None  # of pretrained models; None: a folder of the user's
    trust_remote_code: bool = False
    device: str | None = None  # None: the best there is
    backbone: str | None = None  # hf:PATH, where the run's pretrained model is, if it has moved

    def load(self, *, with_tables: bool = False) -> "NumeralLM":
        """A pretrained model as it comes sees tables where any are given."""
        from numerate.lm.backbones.pretrained.backbone import parse_reference
        from numerate.lm.model.load import load

        is_bare = parse_reference(self.run) is not None
        return load(
            self.run,
            self.dataset,
            cache=self.cache,
            trust_remote_code=self.trust_remote_code,
            device=self.device,
            backbone=self.backbone,
            sight="tables" if with_tables and is_bare else None,
        )

    def calibrate(self, readers: "Readers | None" = None) -> None:
        """Find out anew, on the dev split, what is odd to it and how wide its intervals must be."""
        from numerate.lm.model.load import calibrate_anew
        from numerate.reports.notices import say

        found = calibrate_anew(
            self.run,
            self.dataset,
            cache=self.cache,
            trust_remote_code=self.trust_remote_code,
            device=self.device,
            backbone=self.backbone,
            readers=readers,
        )
        intervals = found.intervals
        if (shortage := intervals.shortage()) is not None:
            say(f"{self.run}: intervals are not calibrated: {shortage}")
        else:
            print(f"{printable(str(self.run))}: calibrated on {intervals.documents:,} documents")

    def example_texts(self, count: int = 5) -> list[str]:
        """Some paragraphs of the dev split, on which a run was not trained; none where its dataset
        has gone."""
        from numerate.lm.model.run_folder import RunFolder
        from numerate.lm.model.run_reference import split_reference

        try:
            opened = RunFolder.open(split_reference(self.run)[0]).open_dataset(self.dataset)
            columns = opened.split("dev").read(["text", "numerals"]).to_pydict()
        except (NumerateError, OSError):
            return []
        fitting = [
            text
            for text, numerals in zip(columns["text"], columns["numerals"], strict=True)
            if SHORTEST <= len(text) <= LONGEST and len(numerals) >= LEAST_NUMERALS
        ]
        return fitting[:: max(1, len(fitting) // count)][:count]
