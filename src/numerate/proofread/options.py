"""Options of `numerate check`: from the command line, or else from `numerate.toml`."""

from dataclasses import dataclass, replace
from pathlib import Path

from numerate.config import CHECK_FORMATS, NONE, PRETRAINED, Configuration
from numerate.documents import STANDARD_INPUT
from numerate.errors import NumerateError, check_choice
from numerate.lm.model.shipped.installed import RUN
from numerate.places import is_remote

MIN_PROBABILITY = 0.4  # of the findings that are reported; every rule is more precise than that


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options of the command line, completed by the project's configuration."""

    models: tuple[str, ...] = ()
    chooses: bool = True  # where no models are named, the one that comes with the package
    tables: tuple[Path, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    alarms: float | None = None  # None: as few as the models can be asked for, but 1 %
    min_probability: float = MIN_PROBABILITY
    format: str = "terminal"
    baseline: Path | None = None
    write_baseline: bool = False
    fix: bool = False
    colour: bool | None = None
    verbose: bool = False
    input_format: str = "auto"
    field: str = "text"

    def __post_init__(self) -> None:
        if self.alarms is not None and not 0 < self.alarms < 1:
            raise NumerateError(f"alarms: got {self.alarms}, expected between 0 and 1")
        if not 0 <= self.min_probability <= 1:
            raise NumerateError(
                f"min-probability: got {self.min_probability}, expected from 0 to 1"
            )

    def configured(self, project: Configuration, **said: object) -> "CheckOptions":
        """Take what the command line says, or else what the project says; `none` is neither."""
        given = {name: value for name, value in said.items() if value not in (None, ())}
        chosen = {
            "models": () if "models" in given else project.models,
            "select": project.select,
            "ignore": project.codes,
            "alarms": project.alarms,
            "min_probability": project.min_probability,
            "format": project.format,
            "baseline": project.baseline,
        }
        off = [name for name, value in given.items() if value in (Path(NONE), (NONE,))]
        given |= dict.fromkeys(off)
        if "models" in off:
            given |= {"models": (), "chooses": False}
        if project.asks_nobody and "models" not in given:
            given["chooses"] = False
        usual = {name: value for name, value in chosen.items() if value not in (None, ())}
        return replace(self, **{**usual, **given})  # type: ignore[arg-type]


def check_options(options: CheckOptions, files: list[str]) -> None:
    """Raise NumerateError over a value that is out of range, or options that exclude each other."""
    check_choice("format", options.format, CHECK_FORMATS)
    first, *rest = files
    if first.startswith(PRETRAINED) or (rest and (Path(first) / RUN).is_file()):
        raise NumerateError(
            f"check: got {first}, a model, before the files, as it was in earlier versions; "
            f"expected numerate check {' '.join(rest) or 'FILE'} --model {first}"
        )
    if options.write_baseline and options.baseline is None:
        raise NumerateError("--write-baseline: got no file, expected --baseline FILE with it")
    if options.fix and options.format != "terminal":
        raise NumerateError(f"--fix: got --format {options.format}, expected terminal: it asks")
    if elsewhere := options.fix and next(filter(is_remote, files), None):
        raise NumerateError(f"--fix: got {elsewhere}, expected files of this machine")
    if options.fix and STANDARD_INPUT in files:
        raise NumerateError("--fix: got standard input, expected files, which can be written")
