"""What an audit looks for, and how: what must not change from one part of it to the next."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numerate
from numerate.config import PRETRAINED, Configuration
from numerate.errors import NumerateError
from numerate.lm.model.run_folder import BESIDE_THE_MODEL, CONFIG, calibration_file
from numerate.lm.model.run_reference import split_reference
from numerate.lm.model.shipped.installed import is_shipped, shipped
from numerate.proofread.inputs import is_read
from numerate.proofread.model_rules import MODEL_RULES
from numerate.proofread.models import USUAL, Opening
from numerate.proofread.options import CheckOptions
from numerate.proofread.selection import chosen_codes, split_codes
from numerate.storage.regular_files import open_regular

_OF_A_MODEL = {".safetensors", ".pt", ".bin", ".npz"}  # files that are weights
_LARGE = 1 << 28  # bytes; of files beyond it, a sample must do
_SAMPLES, _SAMPLE = 1 << 12, 1 << 12  # so many of them, and bytes of each


@dataclass(frozen=True)
class LookedFor:
    """Sent to every worker, and as a record kept beside the findings."""

    wanted: CheckOptions = field(default_factory=CheckOptions)
    project: Configuration = field(default_factory=Configuration)
    opening: Opening = field(default_factory=Opening)
    device: str | None = None  # that models were told to be on

    @property
    def codes(self) -> frozenset[str]:
        return chosen_codes(split_codes(self.wanted.select), split_codes(self.wanted.ignore))

    @property
    def asks_models(self) -> bool:
        wanted = self.wanted
        return bool(self.codes & MODEL_RULES.keys() and (wanted.models or wanted.chooses))

    def is_document(self, folder: Path, name: str) -> bool:
        """Whether a file of the source, by its name, is to be checked."""
        read = is_read(name, self.wanted.input_format)
        return read and not self.project.leaves_out(folder / name)

    def usual(self) -> dict[str, str]:
        """Return the models that are asked where none is named, each with a digest."""
        if self.wanted.models or not self.asks_models:
            return {}
        return {name: _hashed(*sorted(shipped(name).card.files.values())) for name in USUAL}

    def gpus(self, each: float) -> float:
        """Of a worker, where it needs any."""
        return each if self.asks_models and self.device != "cpu" else 0

    def record(self) -> dict[str, Any]:
        """By which audits are told apart; the same on every machine that has the same models."""
        wanted, project = self.wanted, self.project
        return {
            "numerate": numerate.__version__,
            "codes": sorted(self.codes),
            "models": self._named() if self.asks_models and wanted.models else self.usual(),
            "alarms": wanted.alarms,
            "min_probability": wanted.min_probability,
            "format": wanted.input_format,
            "field": wanted.field,
            "ignored_numerals": sorted(project.numerals),
            "ignored_patterns": [pattern.pattern for pattern in project.patterns],
            "ignored_files": list(project.files),
        }

    def calibrations(self) -> dict[str, str]:
        """Of the runs that are named, as far as they are there: who first opens one makes it.

        Models that are installed come with theirs, and that of a pretrained model as it comes is
        kept in the cache, with what it says of the dataset.
        """
        named = self.wanted.models if self.asks_models else ()
        runs = {reference: _place_of(reference) for reference in filter(_is_run, named)}
        files = {name: place / calibration_file(member) for name, (place, member) in runs.items()}
        return {name: _content(file) for name, file in files.items() if file.is_file()}

    def _named(self) -> dict[str, str]:
        return {reference: _of_reference(reference) for reference in self.wanted.models}


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What is not as it was, for people."""
    return [
        f"{name.replace('_', ' ')} {_shown(before.get(name))}, now {_shown(now[name])}"
        for name in now
        if before.get(name) != now[name]
    ]


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{name} ({digest[:8]})" for name, digest in value.items()]
    if isinstance(value, list):
        return f"{', '.join(value[:3]) or 'none'}{', …' * (len(value) > 3)} ({len(value)})"
    return str(value)


def _of_reference(reference: str) -> str:
    if is_shipped(reference):
        return _hashed(*sorted(shipped(reference).card.files.values()))
    place, _ = _place_of(reference)
    if reference.startswith(PRETRAINED) and place.is_file():
        return _content(place)
    if not place.is_dir():
        raise NumerateError(f"model {reference}: no such folder, and no installed model")
    files = [
        file
        for file in sorted(place.rglob("*"))
        if file.name == CONFIG or (file.suffix in _OF_A_MODEL and file.name not in BESIDE_THE_MODEL)
    ]
    return _hashed(*map(_content, files))


def _is_run(reference: str) -> bool:
    return not (is_shipped(reference) or reference.startswith(PRETRAINED))


def _place_of(reference: str) -> tuple[Path, str | None]:
    """Where a model that is not installed lies, and the member of it that is asked."""
    from numerate.lm.backbones.pretrained.backbone import parse_reference

    pretrained = parse_reference(reference)
    return split_reference(reference) if pretrained is None else (pretrained, None)


def _content(file: Path) -> str:
    parts = []
    with open_regular(file) as stream:
        size = file.stat().st_size
        if size <= _LARGE:
            return _hashed(stream.read())
        for start in range(0, size, size // _SAMPLES):
            stream.seek(start)
            parts.append(stream.read(_SAMPLE))
    return _hashed(f"{file.name} {size}", *parts)


def _hashed(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part)
    return digest.hexdigest()
