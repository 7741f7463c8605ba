"""A trained run over a pretrained model: its head, and the model it stands on."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from numerate.corpus.dataset import Dataset
from numerate.errors import RunError
from numerate.heads.digit_adapter import DigitBatch, NodeDetails
from numerate.heads.mixture_fit import Components
from numerate.model.stored import StoredParts
from numerate.numeral_table import NumeralTable
from numerate.pretrained.backbone import open_backbone
from numerate.pretrained.head_model import HeadModel
from numerate.pretrained.language_model import LaidOut, ParagraphScores, PretrainedLM
from numerate.pretrained.plan import Plan
from numerate.pretrained.store import SplitStore, Store, default_cache, remembered_cache
from numerate.pretrained.tuning import add_adapters
from numerate.runs.contents import BackboneRecord
from numerate.runs.folder import WEIGHTS
from numerate.spelling.forest import Trees

AT_ONCE = 1024  # numerals that the head scores at a time


@dataclass(frozen=True, slots=True)
class BackboneRun:
    """A trained run over a pretrained model: its head, and the model it stands on."""

    head: HeadModel
    lm: PretrainedLM
    cache: Path | None = None  # where its training kept states, unless in the usual place

    @property
    def name(self) -> str:
        """For tables and figures."""
        return f"{self.lm.backbone.name} · {self.head.config.model}"

    @classmethod
    def load(
        cls,
        folder: Path,
        device: Any,
        *,
        trust_remote_code: bool = False,
        beside: Sequence["BackboneRun"] = (),
    ) -> "BackboneRun":
        """Runs opened `beside` it that stand on the same frozen model share it."""
        parts = StoredParts.read(folder)
        about = parts.record.backbone
        if about is None:
            raise RunError(f"{folder}: a whole model, expected a head over a pretrained one")
        path, digest, start = Path(about.path), about.digest, about.start
        finetune, layers = about.finetune, about.layers
        networks = _networks(folder, parts.config.model, about)
        if not os.path.exists(path):  # unlike Path's, never raises
            raise RunError(
                f"{folder}: its pretrained model is not at {path} any more; move it back, or "
                f"change the path in config.json"
            )
        tuned = finetune != "none"
        same = (path.absolute(), digest, start)
        shared = [run.lm for run in beside if run.frozen_model == same]
        if shared and not tuned:
            lm = shared[0]
        else:
            backbone = open_backbone(
                path, device=device, trust_remote_code=trust_remote_code, digest=digest
            )
            if tuned:
                add_adapters(backbone.model, finetune)
            lm = PretrainedLM(backbone, start)
        if layers != lm.scorer.layers:
            raise RunError(
                f"{folder}: reads the states of layers {layers}, this version those of "
                f"{lm.scorer.layers}; train it again"
            )

        def make(components: Components | None) -> HeadModel:
            return HeadModel(
                parts.config,
                parts.vocabulary,
                components,
                lm.scorer.state_size,
                lm.scorer.classes,
                lm if tuned else None,
                networks,
            )

        head = parts.build(folder, make)
        if tuned:
            weights = (folder / WEIGHTS).read_bytes()
            lm.digest = hashlib.sha256(digest.encode() + weights).hexdigest()
        return cls(head.to(device).eval(), lm, remembered_cache(parts.record.cache))

    def store(self, cache: Path | None, dataset: Dataset) -> Store:
        """What its model says of a dataset: in the cache that is named, else where it was kept."""
        return Store(cache or self.cache or default_cache(), self.lm, dataset)

    @property
    def reads_details(self) -> bool:
        """Whether what it says of a numeral needs more than the state before it."""
        return self.head.adapter is not None

    @property
    def frozen_model(self) -> tuple[Path, str, int | None] | None:
        """Path, digest and start of what it stands on; None where that was trained too."""
        backbone = self.lm.backbone
        return None if self.head.lm else (backbone.path, backbone.digest, self.lm.start)

    def score(self, paragraphs: Sequence[LaidOut]) -> list[ParagraphScores]:
        """As the language model does, but with the head's numerals."""
        scores = self.lm.score(paragraphs, detailed=self.reads_details)
        return [self._with_head(*pair) for pair in zip(paragraphs, scores, strict=True)]

    def stored_log_probs(
        self, split: SplitStore, places: np.ndarray, table: NumeralTable, rows: np.ndarray
    ) -> np.ndarray:
        """log p(numeral | a numeral comes) of numerals that the model has read before: [N].

        `places` says which of the split's numerals they are, `rows` which of the table's.
        """
        device = self.lm.scorer.device
        result = np.empty(len(rows))
        for begin in range(0, len(rows), AT_ONCE):
            cut = slice(begin, begin + AT_ONCE)
            states = torch.from_numpy(split.states[places[cut]].astype(np.float32))
            with torch.no_grad():
                found = self.head.numeral_log_prob(
                    states.to(device),
                    table.batch(rows[cut]),
                    torch.from_numpy(np.array(split.numerals[places[cut]])).to(device),
                    split.details.gather(places[cut], device) if self.reads_details else None,
                )
            result[cut] = found.double().cpu().numpy()
        return result

    def table_of(
        self,
        states: Tensor,
        plan: Plan,
        candidates: NumeralTable,
        which: Sequence[int] | None = None,
    ) -> np.ndarray:
        """log p(candidate | a numeral comes) before each numeral of a plan, or some.

        From the language model's states there: [N, S] → [N, C].
        """
        device = self.lm.scorer.device
        own = torch.empty(0)
        with torch.no_grad():
            if self.head.needs_lm:
                table = self.lm.table(plan, candidates, which, self.head.adapter)
                own = torch.from_numpy(table).to(device)
            found = self.head.numeral_table(states, candidates.to(device), own)
        return found.double().cpu().numpy()

    def _with_head(self, laid_out: LaidOut, score: ParagraphScores) -> ParagraphScores:
        if not len(score.numerals):
            return score
        paragraph = laid_out.paragraph
        device = self.lm.scorer.device
        texts = [paragraph.written[index] for index in sorted(paragraph.numerals)]
        table = NumeralTable(texts, self.head.vocabulary.numeral_ids()).to(device)

        def tensor(array: np.ndarray) -> Tensor:
            return torch.from_numpy(array).to(device)

        details = NodeDetails(
            tensor(score.node_states),
            tensor(score.node_masses),
            tensor(score.node_costs),
            tensor(score.node_closings),
        )
        trees = laid_out.trees if self.reads_details else []
        digits = DigitBatch.of(Trees.of(trees), details)
        with torch.no_grad():
            found = self.head.numeral_log_prob(
                tensor(score.states), table.all(), tensor(score.numerals), digits
            )
        numerals = found.double().cpu().numpy()
        targets = score.targets.copy()
        targets[sorted(paragraph.numerals)] += numerals - score.numerals
        return replace(score, targets=targets, numerals=numerals)


def _networks(folder: Path, model: str, about: BackboneRecord) -> int:
    """How many adapt the language model's digits, where they are adapted at all."""
    if model != "combination" or about.finetune != "none":
        return 1
    if about.networks is None:
        raise RunError(f"{folder}: made by an earlier version; train it again")
    if about.networks < 1:
        raise RunError(
            f"{folder}: networks in config.json: got {about.networks}, expected 1 or more"
        )
    return about.networks
