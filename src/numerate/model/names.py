"""The names of the models, apart from the code that needs torch."""

from difflib import get_close_matches

from numerate.errors import NumerateError

MODELS = ("softmax", "softmax+rnn", "h-softmax", "h-softmax+rnn", "d-rnn", "mog", "combination")
NEEDS_COMPONENTS = ("mog", "combination")


def check_model_name(name: str) -> None:
    if name not in MODELS:
        close = get_close_matches(name.lower(), MODELS, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise NumerateError(f"unknown model {name!r}: {hint}expected one of {', '.join(MODELS)}")
