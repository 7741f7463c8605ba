"""Models as folders: configuration, vocabulary and weights, written whole and read with care."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

import numerate
from numerate.errors import NumerateError, RunError, one_line
from numerate.lm.data.tensor_file import (
    Sizes,
    load_tensors,
    read_header,
    refuse_misfits,
    save_tensors,
)
from numerate.lm.heads.base import Config, HeadOptions, NumeralHead
from numerate.lm.heads.registry import head_class, head_names
from numerate.lm.model.config import ModelConfig, NetworkConfig
from numerate.lm.model.run_contents import NetworkRecord, RunConfig
from numerate.lm.model.run_folder import (
    CONFIG,
    FORMAT,
    OLDER,
    VERSION,
    VOCABULARY,
    WEIGHTS,
    RunFolder,
)
from numerate.storage.records import write_record
from numerate.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from numerate.lm.model.numeral_lm import NumeralLM

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
    """Write a model's files, each whole or not at all; `about` is what its configuration also says.

    Without weights the configuration comes first: of a training that is killed, the folder says
    what it is. With weights it comes last, since it says that the rest is there.
    """
    record = {
        "format": FORMAT,
        "version": VERSION,
        "numerate": numerate.__version__,
        **model.config.record(),
        "head": model.head.config(),
        **about,
    }
    if not weights:
        write_record(folder / CONFIG, record)
    RunFolder(folder).write_vocabulary(model.vocabulary)
    if weights:
        of = {"vocabulary": _fingerprint(model.vocabulary)}
        save_tensors(folder / WEIGHTS, _WEIGHTS_FORMAT, model.weights(), of)
        write_record(folder / CONFIG, record)


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
        """Build the model that `make` makes of a head, with the weights of the folder.

        It is made without memory first: sizes that do not fit those of the weights could be any.
        """
        sizes = self.sizes()
        head = self.record.head
        if self.record.version == OLDER:
            head = _older_head(self, sizes)
        kind = head_class(self.config.model)
        if (layers := self.config.network.layers) > len(sizes):  # each takes time to be made
            expected = f"expected at most {len(sizes)}, as many as tensors"
            raise RunError(f"{self.folder / CONFIG}: layers: got {layers:,}, {expected}")
        config = dict(head or {})
        with explained(self.folder):
            with torch.device("meta"), NothingDrawn():
                shell = make(kind.from_config(self.config.hidden, config))
            refuse_misfits(sizes, sizes_of(shell))
        tensors = self.weights()
        with explained(self.folder):
            model = make(kind.from_config(self.config.hidden, config))
            model.load_state_dict(tensors)
        return model.eval()

    def sizes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the weights, of which nothing is read but the header of their file."""
        header = read_header(self.folder / WEIGHTS, _WEIGHTS_FORMAT)
        if header.about.get("vocabulary") != _fingerprint(self.vocabulary):
            raise RunError(f"{self.folder / VOCABULARY}: not the vocabulary of these weights")
        return {self._newer_name(name): size for name, size in header.sizes.items()}

    def weights(self) -> dict[str, Tensor]:
        """Read the weights, by the names that they have today, whatever the folder's version."""
        tensors, _ = load_tensors(self.folder / WEIGHTS, _WEIGHTS_FORMAT)
        for name, tensor in tensors.items():
            if not tensor.isfinite().all():
                raise RunError(f"{self.folder / WEIGHTS}: weights are not finite: {name}")
        return {self._newer_name(name): tensor for name, tensor in tensors.items()}

    def _newer_name(self, name: str) -> str:
        """What a tensor is called today; version 1 had no common place for a head."""
        if self.record.version != OLDER:
            return name
        for older, newer in _OLDER_NAMES.items():
            if name.startswith(older):
                return newer + name.removeprefix(older)
        if self.record.backbone is not None and name.startswith("backbone."):
            return f"backbone.tuned.{name.removeprefix('backbone.')}"
        return name


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Say in one line why a network of this folder cannot be made, or filled with its weights."""
    try:
        yield
    except NumerateError as error:
        raise RunError(f"{folder / CONFIG}: {error}") from None
    except Exception as error:  # a head of anyone's may fail in any way
        raise RunError(f"{folder / WEIGHTS}: weights do not fit: {one_line(error)}") from None


def _older_options(record: RunConfig) -> HeadOptions:
    return HeadOptions(bool(record.truncate))


def _older_head(stored: StoredModel, sizes: Sizes) -> Config:
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
        size = sizes.get("backbone.project.0.weight", (0,))[0] if is_frozen else 0
        members["lm"] = {"state_size": size}
    return {"members": members}


class NothingDrawn(TorchFunctionMode):
    """Draw no weights that have no values: torch would load its compiler for that, for seconds."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        given = kwargs or {}
        if func in _DRAWN_IN_PLACE or getattr(func, "__module__", "") == nn.init.__name__:
            return args[0] if args else given["tensor"]
        return (torch.empty if func is torch.randn else func)(*args, **given)


def sizes_of(network: nn.Module) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}


def _fingerprint(vocabulary: Vocabulary) -> str:
    text = "\0".join([*vocabulary.words, "", *vocabulary.numerals])
    return hashlib.sha256(text.encode()).hexdigest()
