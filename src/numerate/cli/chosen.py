"""What a command works with: what is typed, or else what the project's configuration says."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from numerate.config import OWN_FILE, PRETRAINED, Configuration, find_configuration
from numerate.errors import NumerateError
from numerate.lm.model.shipped.installed import RUN, is_shipped
from numerate.places import is_remote, local_path
from numerate.storage import exists

Value = TypeVar("Value")


def here(_: str = "") -> Configuration:
    """That of the working folder."""
    return find_configuration(Path())


def run_and_rest(
    arguments: list[str], configuration: Callable[[str], Configuration], usage: str
) -> tuple[str, list[str], Configuration]:
    """The run, what it is used on, and the configuration for the first of that.

    A folder, hf:PATH or an installed model in the first place is the run. Without one the
    configured run is taken; where none is configured, the first argument must have been meant as
    one.
    """
    first, *rest = arguments
    if not is_run(first):
        configured = configuration(first)
        if configured.run is not None:
            return configured.run, arguments, configured
        if not rest:
            raise NumerateError(
                f"no run: got {first!r} alone, expected {usage}, or model = … in {OWN_FILE}"
            )
    elif not rest:
        raise NumerateError(f"{first}: got only this, a run, expected {usage}")
    return first, rest, configuration(rest[0])


def is_run(argument: str) -> bool:
    """A folder elsewhere is one if it says so: it may be a document, too."""
    if is_remote(argument):
        return exists(f"{argument.rstrip('/')}/{RUN}")
    is_known = argument.startswith(PRETRAINED) or is_shipped(argument)
    return is_known or local_path(argument).is_dir()


def first_given(*values: Value | None) -> Value:
    return next(value for value in values if value is not None)
