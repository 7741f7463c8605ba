"""The files of a pretrained model: which they are, whether they can be used, and their digest.

All that can be known without loading a model is found out here, so that a bad folder is refused
at once, in words of our own.
"""

import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from numerate.errors import BackboneError, one_line
from numerate.storage.records import read_record
from numerate.storage.regular_files import file_digest, open_regular

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
TOKENIZER_FILES = ("tokenizer*", "*.model", "vocab.*", "merges.txt", "tekken.json")
ABOUT_TOKENS = ("special_tokens_map.json", "added_tokens.json")
CONFIGURATION = ("config.json", "config.*.json", "generation_config.json", "**/*.py")
ADAPTER, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
IMPLEMENTATIONS = re.compile(r"_?(attn|experts)_implementation(_internal)?")
BUILT_IN = ("eager", "sdpa", "flex_attention", "grouped_mm", "batched_mm")


def is_gguf(path: Path) -> bool:
    """A file is taken for GGUF by what it holds: some tools name such files by their hash."""
    with open_regular(path) as stream:
        return stream.read(4) == b"GGUF"


def needs_code(path: Path) -> BackboneError:
    return BackboneError(
        f"{path}: needs code of its own to be run; if you trust it, add --trust-remote-code"
    )


def check_folder(folder: Path, *, trusted: bool = False) -> None:
    """Refuse a folder that lacks a configuration, weights or a tokenizer, or has broken ones.

    Also one that sends transformers elsewhere, unless it is trusted: to other weights, which the
    digest would not cover, or to code from a hub.
    """
    if not (folder / "config.json").is_file():
        raise BackboneError(
            f"{folder}: no config.json, expected the folder of a Hugging Face model or a GGUF file"
        )
    for path in sorted(folder.iterdir()):  # of which transformers opens others than these
        if not path.is_file() and not path.is_dir():
            raise BackboneError(f"{path}: not a regular file, nor a folder")
    for path in _find(folder, ("config.json", "config.*.json")):
        config = _read_object(path)
        if "transformers_weights" in config:
            raise BackboneError(f"{path}: names its own file of weights, expected {WEIGHTS}")
        foreign = [name for name in _implementations(config) if name not in BUILT_IN]
        if foreign and not trusted:
            raise BackboneError(
                f"{path}: asks for code from elsewhere ({one_line(foreign[0])}), expected one of "
                f"{', '.join(BUILT_IN)}; if you trust it, add --trust-remote-code"
            )
    for path in weight_files(folder):
        _check_weights(path)
    if has_adapter(folder):
        if _read_object(folder / ADAPTER).get("megatron_config") is not None:
            raise BackboneError(f"{folder / ADAPTER}: megatron_config: names code to be imported")
        if not (folder / ADAPTER_WEIGHTS).is_file():
            raise BackboneError(f"{folder}: an adapter without {ADAPTER_WEIGHTS}")
        _check_weights(folder / ADAPTER_WEIGHTS)
    if not _find(folder, TOKENIZER_FILES):
        raise BackboneError(f"{folder}: no tokenizer, expected tokenizer.json")


def has_adapter(path: Path) -> bool:
    """Whether a PEFT adapter lies beside the weights, and changes them."""
    return (path / ADAPTER).is_file()


def _implementations(value: Any, named: bool = False) -> Iterator[str]:
    """How attention and experts shall be computed, in a configuration and those inside it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _implementations(inner, named or bool(IMPLEMENTATIONS.fullmatch(key)))
    elif isinstance(value, list):
        for inner in value:
            yield from _implementations(inner, named)
    elif named and value is not None:
        yield str(value)


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files that transformers would load. Pickles can run code: never those."""
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    if (folder / INDEX).is_file():
        shards = _read_object(folder / INDEX).get("weight_map")
        if not isinstance(shards, dict) or not all(isinstance(n, str) for n in shards.values()):
            raise BackboneError(f"{folder / INDEX}: no weight_map from tensors to files")
        for name in shards.values():
            if Path(name).name != name:
                raise BackboneError(
                    f"{folder / INDEX}: got {name!r:.80}, expected a file beside it"
                )
        files = [folder / name for name in sorted(set(shards.values()))]
        for path in files:
            if not path.is_file():
                raise BackboneError(f"{path}: missing, but {INDEX} names it")
        return files
    pickles = _find(folder, PICKLES)
    if pickles:
        raise BackboneError(
            f"{pickles[0]}: weights in pickle format can run code and are not read, "
            "expected safetensors or GGUF"
        )
    raise BackboneError(f"{folder}: no weights, expected {WEIGHTS} or {INDEX}")


def digest(path: Path) -> str:
    """One hash for all that decides what a model computes, wherever its folder or file lies."""
    if path.is_file():
        return _file_digest(path)
    named = [*CONFIGURATION, *TOKENIZER_FILES, *ABOUT_TOKENS, INDEX, ADAPTER, ADAPTER_WEIGHTS]
    total = hashlib.sha256()
    for file in sorted({*_find(path, named), *weight_files(path)}):
        total.update(f"{file.relative_to(path).as_posix()}\0{_file_digest(file)}\0".encode())
    return total.hexdigest()


def _file_digest(path: Path) -> str:
    status = path.stat()
    return _content_digest(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=1024)
def _content_digest(path: Path, size: int, modified: int) -> str:
    """Weights are large: they are read again only when size or time of the file changed."""
    return file_digest(path)


def _check_weights(path: Path) -> None:
    """A safetensors file says at its start how long it is: a part of one is noticed."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy"):
            pass
    except (SafetensorError, OSError) as error:
        raise BackboneError(f"{path}: broken: {one_line(error)}") from None


def _read_object(path: Path) -> dict[str, Any]:
    return read_record(path, {}, BackboneError)


def _find(folder: Path, patterns: tuple[str, ...] | list[str]) -> list[Path]:
    found = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return sorted(found)
