"""What a detector is to those who train, open and measure it, whatever it reads with.

This is the seam between the small network (`small.py`) and others, such as one over a pretrained
model: whoever implements `NumeralClassifier` is trained by the same loop (`fitting.py`), stored in
the same kind of folder and opened from it (`trained.py`, where its maker is named), and measured by
the same benchmark.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from numerate.detector.articles import Article, Errors, Selection


@dataclass(frozen=True, slots=True)
class Logits:
    """Of some articles, in their order, as `labels` counts: log-odds that each is an error."""

    texts: Tensor  # [N] numerals of texts
    cells: Tensor | None  # [C] numbers of tables; None: it does not read them as places
    cell_places: np.ndarray | None = None  # [C] which, of all numbers of tables; None: all
    auxiliary: Tensor | None = None  # a loss of its own to be added in training
    suggestions: list[tuple[str, float] | None] | None = None
    """[N] what may belong there instead, if it was asked for, and the probability that it does."""


class Prepared(ABC):
    """Articles as a classifier has prepared them once, for any number of passes."""

    articles: Sequence[Article]

    @property
    @abstractmethod
    def sizes(self) -> np.ndarray:
        """How much work each article is: [A]. Those of a batch have similar ones."""


class NumeralClassifier(nn.Module, ABC):
    """Scores every numeral of articles, with what stands before and after it in view."""

    kind: str  # what a run folder calls it

    @property
    def tokens_at_once(self) -> int:
        """Of the texts of a document that are read together, before it is told how far it is."""
        return 16_000

    @abstractmethod
    def prepare(self, articles: Sequence[Article]) -> Prepared:
        """Whatever does not depend on errors."""

    @abstractmethod
    def gather(
        self,
        prepared: Any,
        rows: Sequence[int],
        errors: Sequence[Errors] | None = None,
        *,
        selections: Sequence[Selection] | None = None,
        generator: np.random.Generator | None = None,
    ) -> Any:
        """What one pass needs of the articles `rows`, with the errors of each if there are any:
        what stands in the places of numerals is then what the errors say.

        It touches no device and no weight, so that it may be done in another process. The
        `selections` say which texts and tables of each are scored, by default all; the others are
        known of all the same. With a `generator`, in training, it may choose the tables itself.
        """

    @abstractmethod
    def logits(self, gathered: Any, *, suggest: bool = False) -> Logits:
        """One pass; in training with its auxiliary loss."""

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """What it was made with, as `config.json` keeps it: see `trained.MAKERS`."""

    def parameter_groups(self, rate: float) -> list[dict[str, Any]]:
        """What is trained, and at which rate."""
        return [{"params": [one for one in self.parameters() if one.requires_grad], "lr": rate}]

    def weights(self) -> dict[str, Tensor]:
        """What a run folder keeps: all of it, unless some comes from elsewhere."""
        return self.state_dict()

    def trained(self) -> None:
        """Its weights are what they will be: it may get ready for use."""

    def keep(self, folder: Path) -> None:
        """Write whatever else it needs to be made again into its folder."""

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device
