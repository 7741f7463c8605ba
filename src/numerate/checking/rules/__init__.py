"""One module a family of rules; importing this package registers them all."""

from numerate.checking.rules import tests  # noqa: F401
