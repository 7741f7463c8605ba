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
    load_tensors,
    read_header,
    refuse_misfits,
    save_tensors,
)
from numerate.lm.heads.base import HeadOptions, NumeralHead
from numerate.lm.heads.registry import head_class, head_names
from numerate.lm.model.config import ModelConfig, NetworkConfig
from numerate.lm.model.run_contents import NetworkRecord, RunConfig
from numerate.lm.model.run_folder import (
    CONFIG,
    FORMAT,
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
            config = ModelConfig(
                record.model,
                record.hidden,
                record.dropout,
                HeadOptions(**asdict(record.options)),
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
        kind = head_class(self.config.model)
        if (layers := self.config.network.layers) > len(sizes):  # each takes time to be made
            expected = f"expected at most {len(sizes)}, as many as tensors"
            raise RunError(f"{self.folder / CONFIG}: layers: got {layers:,}, {expected}")
        config = dict(self.record.head)
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
        """Read the shapes of the weights, from the header of their file alone."""
        header = read_header(self.folder / WEIGHTS, _WEIGHTS_FORMAT)
        if header.about.get("vocabulary") != _fingerprint(self.vocabulary):
            raise RunError(f"{self.folder / VOCABULARY}: not the vocabulary of these weights")
        return dict(header.sizes)

    def weights(self) -> dict[str, Tensor]:
        """Read the weights, by name."""
        tensors, _ = load_tensors(self.folder / WEIGHTS, _WEIGHTS_FORMAT)
        for name, tensor in tensors.items():
            if not tensor.isfinite().all():
                raise RunError(f"{self.folder / WEIGHTS}: weights are not finite: {name}")
        return tensors


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Say in one line why a network of this folder cannot be made, or filled with its weights."""
    try:
        yield
    except NumerateError as error:
        raise RunError(f"{folder / CONFIG}: {error}") from None
    except Exception as error:  # a head of anyone's may fail in any way
        raise RunError(f"{folder / WEIGHTS}: weights do not fit: {one_line(error)}") from None


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
