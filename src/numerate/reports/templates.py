"""HTML from Jinja2 templates, which lie beside the modules that fill them."""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def render(name: str, **values: object) -> "Markup":
    """Fill a template, named by its path in the package; all text in it is escaped."""
    from markupsafe import Markup  # only where HTML is written

    return Markup(_environment().get_template(name).render(values))


def asset(name: str) -> "Markup":
    """Read a stylesheet or a script of the package, named by its path, as it stands."""
    from markupsafe import Markup

    return Markup((files("numerate") / name).read_text(encoding="utf-8"))


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("numerate", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
