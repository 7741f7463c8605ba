"""What is wanted of `numerate check`: said on the command line or configured, if it can be had."""

from dataclasses import dataclass, replace
from pathlib import Path

from numerate.config import CHECK_FORMATS, NONE, PRETRAINED, Configuration
from numerate.documents import STANDARD_INPUT
from numerate.errors import NumerateError, check_choice
from numerate.lm.model.shipped.installed import RUN
from numerate.places import is_remote
from numerate.proofread.witnesses import ALARMS

MIN_PROBABILITY = 0.1  # that a finding is an error; of ten such, one is an error
UNASKED_PROBABILITY = 0.5  # the same, of what a model says alone that nobody has named


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was said on the command line, and in the configuration where nothing was said."""

    models: tuple[str, ...] = ()
    chooses: bool = True  # where no models are named, the one that comes with the package
    tables: tuple[Path, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    alarms: float = ALARMS
    min_probability: float | None = None  # None: as usual, for rules and for models
    format: str = "terminal"
    baseline: Path | None = None
    joining: Path | None = None
    write_baseline: bool = False
    fix: bool = False
    force_domain: bool = False
    colour: bool | None = None
    verbose: bool = False
    input_format: str = "auto"
    field: str = "text"

    def configured(self, project: Configuration, **said: object) -> "Wanted":
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
            "joining": project.joining,
        }
        off = [name for name, value in given.items() if value in (Path(NONE), (NONE,))]
        given |= dict.fromkeys(off)
        if "models" in off:
            given |= {"models": (), "chooses": False}
        if project.asks_nobody and "models" not in given:
            given["chooses"] = False
        usual = {name: value for name, value in chosen.items() if value not in (None, ())}
        return replace(self, **{**usual, **given})  # type: ignore[arg-type]

    @property
    def least(self) -> float:
        """Probability of what is told."""
        return MIN_PROBABILITY if self.min_probability is None else self.min_probability

    @property
    def least_of_models(self) -> float:
        """The same of what only models say."""
        unasked = self.min_probability is None and not self.models
        return UNASKED_PROBABILITY if unasked else self.least


def check_wanted(wanted: Wanted, files: list[str]) -> None:
    """Raises over what cannot be had, or not together."""
    check_choice("format", wanted.format, CHECK_FORMATS)
    if not 0 < wanted.alarms < 1:
        raise NumerateError(f"alarms: got {wanted.alarms}, expected between 0 and 1")
    if wanted.min_probability is not None and not 0 <= wanted.min_probability <= 1:
        got = wanted.min_probability
        raise NumerateError(f"min-probability: got {got}, expected from 0 to 1")
    first, *rest = files
    if first.startswith(PRETRAINED) or (rest and (Path(first) / RUN).is_file()):
        raise NumerateError(
            f"check: got {first}, a model, before the files, as it was in earlier versions; "
            f"expected numerate check {' '.join(rest) or 'FILE'} --model {first}"
        )
    if wanted.write_baseline and wanted.baseline is None:
        raise NumerateError("--write-baseline: got no file, expected --baseline FILE with it")
    if wanted.fix and wanted.format != "terminal":
        raise NumerateError(f"--fix: got --format {wanted.format}, expected terminal: it asks")
    if elsewhere := wanted.fix and next(filter(is_remote, files), None):
        raise NumerateError(f"--fix: got {elsewhere}, expected files of this machine")
    if wanted.fix and STANDARD_INPUT in files:
        raise NumerateError("--fix: got standard input, expected files, which can be written")
