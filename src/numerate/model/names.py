"""The names of the models, apart from the code that needs torch."""

from difflib import get_close_matches

from numerate.errors import NumerateError

MODELS = ("softmax", "softmax+rnn", "h-softmax", "h-softmax+rnn", "d-rnn", "mog", "combination")
WHAT_THEY_ARE = {
    "softmax": "One softmax over the words and numerals of a vocabulary; all other numerals share "
    "one symbol.",
    "softmax+rnn": "The same, with what a small network reads off a numeral's digits added to its "
    "embedding.",
    "h-softmax": "First word or numeral, then a softmax over the numerals of the vocabulary; all "
    "others share one symbol.",
    "h-softmax+rnn": "The same, with the digits read as in softmax+rnn.",
    "d-rnn": "First word or numeral, then the numeral digit by digit: any numeral can be written.",
    "mog": "First word or numeral, then a number of decimals and a place on the number line, from "
    "a mixture of Gaussians: any numeral can be written.",
    "combination": "h-softmax, d-rnn and mog together, with shares that depend on the context: any "
    "numeral can be written.",
}
NEEDS_COMPONENTS = ("mog", "combination")


def check_model_name(name: str) -> None:
    if name not in MODELS:
        close = get_close_matches(name.lower(), MODELS, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise NumerateError(f"unknown model {name!r}: {hint}expected one of {', '.join(MODELS)}")
