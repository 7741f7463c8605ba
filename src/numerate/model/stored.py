"""Models as folders: configuration, vocabulary and weights, written whole and read with care."""

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

import numerate
from numerate.errors import NumerateError, RunError, one_line
from numerate.heads.base import Config, HeadOptions, NumeralHead
from numerate.heads.registry import head_class, head_names
from numerate.model.config import ModelConfig, NetworkConfig
from numerate.records import write_record
from numerate.runs.contents import NetworkRecord, RunConfig
from numerate.runs.folder import CONFIG, FORMAT, OLDER, VERSION, VOCABULARY, WEIGHTS, RunFolder
from numerate.tensor_file import load_tensors, save_tensors
from numerate.vocabulary import Vocabulary

if TYPE_CHECKING:
    from numerate.model.numeral_lm import NumeralLM

_WEIGHTS_FORMAT = "numerate model 1"
_DRAWN_IN_PLACE = {Tensor.normal_, Tensor.uniform_, Tensor.div_}
_OLDER_NAMES = {
    "output.numerals.": "head.embedding.",
    "output.head.": "head.",
    "output.words": "backbone.words.weight",
    "output.gate": "backbone.words.gate",
    "embedding.": "backbone.embedding.",
    "project.": "backbone.project.",
    "adapter.": "head.members.lm.adapter.",
}


def save(model: "NumeralLM", folder: Path, about: dict[str, Any], *, weights: bool) -> None:
    """Each file appears whole or not at all; `about` is what the configuration shall also say."""
    record = {
        "format": FORMAT,
        "version": VERSION,
        "numerate": numerate.__version__,
        **model.config.record(),
        "head": model.head.config(),
        **about,
    }
    RunFolder(folder).write_vocabulary(model.vocabulary)
    if weights:
        of = {"vocabulary": _fingerprint(model.vocabulary)}
        save_tensors(folder / WEIGHTS, _WEIGHTS_FORMAT, model.weights(), of)
    write_record(folder / CONFIG, record)  # last, since it says that the rest is there


@dataclass(frozen=True, slots=True)
class StoredModel:
    """What a folder says of its model, before the model is built."""

    folder: Path
    record: RunConfig
    config: ModelConfig
    vocabulary: Vocabulary

    @classmethod
    def read(cls, folder: Path) -> "StoredModel":
        run = RunFolder.open(folder)
        record = run.config()
        try:
            options = HeadOptions(**asdict(record.options))
            if record.version == OLDER:
                options = _older_options(record)
            config = ModelConfig(
                record.model,
                record.hidden,
                record.dropout,
                options,
                record.sight,
                NetworkConfig(**asdict(record.network or NetworkRecord())),
            )
        except NumerateError as error:
            installed = "" if record.model in head_names() else "; is its package installed?"
            raise RunError(f"{folder / CONFIG}: {error}{installed}") from None
        return cls(folder, record, config, run.vocabulary())

    def build(self, make: "Callable[[NumeralHead], NumeralLM]") -> "NumeralLM":
        """The model that `make` makes of a head, with the weights of the folder.

        It is made without memory first: sizes that do not fit the weights could be any.
        """
        tensors = self.weights()
        head = self.record.head
        if self.record.version == OLDER:
            head = _older_head(self, tensors)
        kind = head_class(self.config.model)
        try:
            config = dict(head or {})
            with torch.device("meta"), _NothingDrawn():
                shell = make(kind.from_config(self.config.hidden, config))
            _refuse_misfits(shell, tensors)
            model = make(kind.from_config(self.config.hidden, config))
            model.load_state_dict(tensors)
        except NumerateError as error:
            raise RunError(f"{self.folder / CONFIG}: {error}") from None
        except Exception as error:  # a head of anyone's may fail in any way
            reason = one_line(error)
            raise RunError(f"{self.folder / WEIGHTS}: weights do not fit: {reason}") from None
        return model.eval()

    def weights(self) -> dict[str, Tensor]:
        """By the names that they have today, whatever the version of the folder."""
        tensors, metadata = load_tensors(self.folder / WEIGHTS, _WEIGHTS_FORMAT)
        if metadata.get("vocabulary") != _fingerprint(self.vocabulary):
            raise RunError(f"{self.folder / VOCABULARY}: not the vocabulary of these weights")
        for name, tensor in tensors.items():
            if not tensor.isfinite().all():
                raise RunError(f"{self.folder / WEIGHTS}: weights are not finite: {name}")
        if self.record.version != OLDER:
            return tensors
        return {self._newer_name(name): tensor for name, tensor in tensors.items()}

    def _newer_name(self, name: str) -> str:
        """Of a tensor of version 1, which had no common place for a head."""
        for older, newer in _OLDER_NAMES.items():
            if name.startswith(older):
                return newer + name.removeprefix(older)
        if self.record.backbone is not None and name.startswith("backbone."):
            return f"backbone.tuned.{name.removeprefix('backbone.')}"
        return name


def _older_options(record: RunConfig) -> HeadOptions:
    return HeadOptions(bool(record.truncate))


def _older_head(stored: StoredModel, tensors: dict[str, Tensor]) -> Config:
    """Of a run of version 1, which says only which of the paper's models it is."""
    record, vocabulary = stored.record, list(stored.vocabulary.numerals[1:])
    gaussians = {"components": record.components, "truncate": bool(record.truncate)}
    if record.model == "d-rnn":
        return {}
    if record.model == "mog":
        return gaussians
    if record.model != "combination":
        return {"numerals": vocabulary, "unknown": True}
    members: dict[str, Config] = {"d-rnn": {}, "mog": gaussians}
    if vocabulary:
        members = {"h-softmax": {"numerals": vocabulary, "unknown": False}, **members}
    if record.backbone is not None:
        is_frozen = record.backbone.finetune == "none"
        if is_frozen and record.backbone.networks != 1:
            raise RunError(f"{stored.folder}: made by an earlier version; train it again")
        size = len(tensors.get("backbone.project.0.weight", ())) if is_frozen else 0
        members["lm"] = {"state_size": size}
    return {"members": members}


class _NothingDrawn(TorchFunctionMode):
    """Weights without values are not drawn: torch would load its compiler for that, for seconds."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        given = kwargs or {}
        if func in _DRAWN_IN_PLACE or getattr(func, "__module__", "") == nn.init.__name__:
            return args[0] if args else given["tensor"]
        return (torch.empty if func is torch.randn else func)(*args, **given)


def _refuse_misfits(model: "NumeralLM", tensors: dict[str, Tensor]) -> None:
    expected = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    for name in sorted(expected.keys() | found.keys()):
        got, needed = found.get(name, "none"), expected.get(name, "none")
        if got != needed:
            raise ValueError(f"{name}: got {got}, expected {needed}")


def _fingerprint(vocabulary: Vocabulary) -> str:
    text = "\0".join([*vocabulary.words, "", *vocabulary.numerals])
    return hashlib.sha256(text.encode()).hexdigest()
