"""The one way to open a model: a run, a member of a run's combination, a pretrained model.

What must hold before a model meets a dataset is looked at here, and told in one clear line.
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import torch

from numerate.errors import NumerateError, RunError
from numerate.lm.backbones.causal import CausalBackbone
from numerate.lm.backbones.pretrained.backbone import (
    PREFIX,
    add_adapters,
    open_backbone,
    parse_reference,
)
from numerate.lm.backbones.pretrained.block_reader import Readers
from numerate.lm.backbones.pretrained.files import digest
from numerate.lm.backbones.pretrained.language_model import PretrainedLM
from numerate.lm.backbones.pretrained.store import Progress, remembered_cache
from numerate.lm.data.dataset import Dataset
from numerate.lm.heads.base import NumeralHead
from numerate.lm.heads.lm import LMHead
from numerate.lm.model.config import NETWORKS, ModelConfig
from numerate.lm.model.device import usable_device
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.run_contents import BackboneRecord, TrainedConfig
from numerate.lm.model.run_folder import WEIGHTS, RunFolder
from numerate.lm.model.run_reference import split_reference
from numerate.lm.model.stored import StoredModel
from numerate.places import place_of
from numerate.storage import here, recorded
from numerate.storage.regular_files import read_regular
from numerate.text.vocabulary import Vocabulary

VOCABULARY = 1000  # of a pretrained model, which has none: it only makes the candidates


@dataclass(frozen=True, slots=True)
class Settings:
    """What pretrained models need beyond a path."""

    cache: Path | None = None
    vocabulary: Vocabulary | int | None = None  # that of the run they stand beside, or a size
    trust_remote_code: bool = False
    progress: Progress | None = None
    sight: str | None = None  # how far one as it comes sees; runs were trained to see as they do
    readers: Readers | None = None  # who reads a dataset; None: this process
    backbone: str | None = None  # hf:PATH, where the pretrained model of a run is now

    def __post_init__(self) -> None:
        if self.backbone is not None and not self.backbone.startswith(PREFIX):
            raise NumerateError(f"backbone: got {self.backbone!r}, expected {PREFIX}PATH")


@dataclass(frozen=True, slots=True)
class Opened:
    """A model, what it was opened by, and what its run says; a pretrained model is no run."""

    model: NumeralLM
    reference: str
    run: RunFolder | None
    record: TrainedConfig | None
    settings: Settings
    # All that are opened together, also after it: whoever opens them adds each to one list.
    beside: Sequence["Opened"] = field(default=(), repr=False, compare=False)

    def on(self, dataset: Dataset | str | Path | None, split: str | None = None) -> Dataset:
        """The dataset it was trained on, or the one that is given; what it says of it is cached.

        A run is not to be asked about a split with documents it was trained on, nor about
        texts most of whose words it has never seen. With those `beside` it over the same
        pretrained model, it reads a dataset once, with all that any of them needs.
        """
        if self.run is None or self.record is None:
            if dataset is None:
                raise NumerateError(
                    f"{self.reference}: a pretrained model has no dataset of its own: --dataset"
                )
            opened = dataset if isinstance(dataset, Dataset) else Dataset.open(dataset)
        else:
            opened = dataset if isinstance(dataset, Dataset) else self.run.open_dataset(dataset)
            if split is not None:
                refuse_training_documents(self.run, opened, split)
            refuse_foreign_vocabulary(self.run, self.record, opened, self.model.vocabulary)
        models = [self.model, *(other.model for other in self.beside if other.lm is self.lm)]
        self.model.backbone.use(
            opened,
            self.settings.cache,
            self.settings.progress,
            [model.backbone for model in models],
            detailed=any(model.head.digit_adapter() is not None for model in models),
            readers=self.settings.readers,
        )
        return opened

    def vocabulary(self, dataset: Dataset) -> Vocabulary:
        """Its own; of a pretrained model, that of the runs beside it, or the dataset's."""
        known = self.settings.vocabulary
        if self.run is not None:
            return self.model.vocabulary
        if isinstance(known, Vocabulary):
            return known
        encoded = dataset.split("train").encode()
        size = min(VOCABULARY if known is None else known, len(encoded.types))
        return Vocabulary.build(encoded.types, encoded.counts, size)

    @property
    def lm(self) -> PretrainedLM | None:
        """The pretrained model it stands on, if it does."""
        backbone = self.model.backbone
        return backbone.lm if isinstance(backbone, CausalBackbone) else None


def open_model(
    reference: str | Path,
    *,
    device: str | torch.device | None = None,
    settings: Settings | None = None,
    beside: Sequence[Opened] = (),
) -> Opened:
    """`hf:PATH`, a run, `RUN:MEMBER`, or an installed model. Models `beside` it over the same
    frozen one share it."""
    settings = settings or Settings()
    target = device if isinstance(device, torch.device) else usable_device(device)
    path = parse_reference(str(reference))
    if path is not None:
        model = _bare(path, target, settings)
        return Opened(model, f"{PREFIX}{path}", None, None, settings, beside)
    folder, member = split_reference(reference)
    run = RunFolder.open(folder)
    record = run.trained()
    model = open_stored(folder, target, settings, beside)
    model.run = run
    if member is not None:
        try:
            model.keep_member(member)
        except NumerateError as error:
            raise RunError(f"{folder}: {error}") from None
    return Opened(model, str(reference), run, record, settings, beside)


def open_stored(
    folder: str | Path,
    device: str | torch.device = "cpu",
    settings: Settings | None = None,
    beside: Sequence[Opened] = (),
) -> NumeralLM:
    """A model from its folder, be it a run or not."""
    settings = settings or Settings()
    stored = StoredModel.read(here(folder))
    if stored.record.backbone is not None:
        return _over_pretrained(
            stored, stored.record.backbone, torch.device(device), settings, beside
        )

    def make(head: NumeralHead) -> NumeralLM:
        return from_scratch(stored.config, stored.vocabulary, head)

    return stored.build(make).to(device)


def from_scratch(config: ModelConfig, vocabulary: Vocabulary, head: NumeralHead) -> NumeralLM:
    network = config.network
    backbone = NETWORKS[network.kind](
        config.hidden,
        config.dropout,
        vocabulary,
        flat=head.flat,
        sees=config.sight != "none",
        layers=network.layers,
        heads=network.heads,
        inputs=network.inputs,
    )
    return NumeralLM(config, vocabulary, backbone, head)


def _bare(path: Path, device: torch.device, settings: Settings) -> NumeralLM:
    lm = PretrainedLM(
        open_backbone(path, device=device, trust_remote_code=settings.trust_remote_code)
    )
    config = ModelConfig("lm", sight=settings.sight or "none")
    backbone = CausalBackbone(lm, None, sight=config.sight)
    return NumeralLM(config, Vocabulary.nothing(), backbone, LMHead(0)).eval()


def _over_pretrained(
    stored: StoredModel,
    about: BackboneRecord,
    device: torch.device,
    settings: Settings,
    beside: Sequence[Opened],
) -> NumeralLM:
    folder, tuned = stored.folder, about.finetune != "none"
    path = _backbone_path(folder, about, settings.backbone)
    same = (path.absolute(), about.digest, about.start)
    frozen = [opened.lm for opened in beside if opened.lm and not _is_tuned(opened)]
    found = [lm for lm in frozen if (lm.backbone.path, lm.backbone.digest, lm.start) == same]
    if found and not tuned:
        lm = found[0]
    else:
        opened = open_backbone(
            path,
            device=device,
            trust_remote_code=settings.trust_remote_code,
            digest=about.digest,
        )
        if tuned:
            add_adapters(opened.model, about.finetune)
        lm = PretrainedLM(opened, about.start)
    if about.layers != lm.scorer.layers:
        raise RunError(
            f"{folder}: reads the states of layers {about.layers}, this version those of "
            f"{lm.scorer.layers}; train it again"
        )

    def make(head: NumeralHead) -> NumeralLM:
        config = stored.config
        size = config.hidden if head.sees_states else None
        backbone = CausalBackbone(
            lm,
            size,
            config.dropout,
            tuned=tuned,
            sight=config.sight,
            vocabulary=stored.vocabulary,
        )
        return NumeralLM(config, stored.vocabulary, backbone, head)

    model = stored.build(make).to(device)
    assert isinstance(model.backbone, CausalBackbone)
    model.backbone.remembered = remembered_cache(stored.record.cache)
    if tuned:
        lm.scorer.adapted.merge_for_good()
        weights = read_regular(folder / WEIGHTS)
        lm.digest = hashlib.sha256(about.digest.encode() + weights).hexdigest()
        place = place_of(folder) or str(folder.absolute())
        again = Settings(
            trust_remote_code=settings.trust_remote_code, backbone=f"{PREFIX}{path.absolute()}"
        )
        lm.open_again = partial(_open_tuned, place, again)
    return model


def _backbone_path(folder: Path, about: BackboneRecord, named: str | None) -> Path:
    """Find a run's pretrained model: where you say, if it is that model, else where the run says.

    Of several runs that are opened together, only some may stand on the model you name.
    """
    given = None if named is None else parse_reference(named)
    if given is not None and given.exists() and digest(given) == about.digest:
        return given
    try:
        place = recorded(about.path, folder, f"pass --backbone {PREFIX}{about.path}")
        path = here(place, seals=("config.json",))
        if os.path.exists(path):  # unlike Path's, never raises
            return path
    except RunError:
        if given is None:
            raise
    if given is not None:
        return given  # which is refused as another model
    raise RunError(
        f"{folder}: its pretrained model is not at {path} any more; pass --backbone {PREFIX}PATH"
    )


def _open_tuned(place: str, settings: Settings, device: torch.device) -> PretrainedLM:
    """Open what a run has made of its pretrained model, in a process that reads for another."""
    model = open_stored(here(place), device, settings)
    assert isinstance(model.backbone, CausalBackbone)
    return model.backbone.lm


def _is_tuned(opened: Opened) -> bool:
    backbone = opened.model.backbone
    return isinstance(backbone, CausalBackbone) and backbone.tuned is not None


def training_documents(run: RunFolder, dataset: Dataset, split: str) -> list[str]:
    """The documents of a split that a run was trained on."""
    ids = set(dataset.split(split).read(["document"])["document"].to_pylist())
    return sorted(ids.intersection(run.trained_documents()))


def refuse_training_documents(run: RunFolder, dataset: Dataset, split: str) -> None:
    seen = training_documents(run, dataset, split)
    if seen:
        shown = ", ".join(seen[:5]) + (", …" if len(seen) > 5 else "")
        raise RunError(
            f"{run.path}: trained on {len(seen)} documents of the {split} split of "
            f"{dataset.folder}: {shown}"
        )


def refuse_foreign_vocabulary(
    run: RunFolder, record: TrainedConfig, dataset: Dataset, vocabulary: Vocabulary
) -> None:
    if record.dataset.content_hash == dataset.manifest["content_hash"]:
        return
    types = set(dataset.split("train").encode().types)
    known = [*vocabulary.words[2:], *vocabulary.numerals[1:]]
    found = sum(type in types for type in known)
    if found < len(known) / 2:
        raise RunError(
            f"{run.path}: its vocabulary does not fit {dataset.folder}: {found} of "
            f"{len(known)} types occur there, expected at least half"
        )
