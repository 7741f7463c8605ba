"""The application, and how commands are added to it."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, TypeVar

import typer

from numerate import __version__
from numerate.cli.exits import EXIT_STATUS
from numerate.cli.named_places import located, to_be_located
from numerate.cli.panels import Command, Group
from numerate.errors import NumerateError
from numerate.reports.notices import Loudness, set_loudness

Function = TypeVar("Function", bound=Callable[..., None])

Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Say more: the figures behind what is said."),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No progress, no notices: results and errors only."),
]

app = typer.Typer(
    cls=Group,
    help="Language models that understand numbers.",
    epilog=EXIT_STATUS,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"numerate {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    set_loudness(Loudness.USUAL)
    _choose_loudness(verbose, quiet)


def command(function: Function) -> Function:
    """Add a command: like every other, it takes --verbose and --quiet, before or after its name."""

    @wraps(function)
    def run(*, verbose: bool, quiet: bool, **arguments: Any) -> None:
        _choose_loudness(verbose, quiet)
        function(**{name: located(value) for name, value in arguments.items()})

    signature = inspect.signature(function)
    parameters = [
        one.replace(annotation=to_be_located(one.annotation))
        for one in signature.parameters.values()
    ]
    for name, kind in {"verbose": Verbose, "quiet": Quiet}.items():
        added = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False)
        parameters.append(added.replace(annotation=kind))
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": None}
    app.command(cls=Command, epilog=EXIT_STATUS)(run)
    return function


def _choose_loudness(verbose: bool, quiet: bool) -> None:
    if verbose and quiet:
        raise NumerateError("--verbose and --quiet: got both, expected one of them")
    if verbose or quiet:
        set_loudness(Loudness.VERBOSE if verbose else Loudness.QUIET)
