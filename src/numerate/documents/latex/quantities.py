"""Numbers and units as siunitx has them, written as it prints them."""

import re

from numerate.documents.latex.tokens import COMMAND, Token, Tokens, plain
from numerate.documents.placed_text import PlacedText, standing_for

_PREFIXES = {
    "yocto": "y", "zepto": "z", "atto": "a", "femto": "f", "pico": "p", "nano": "n", "micro": "µ",
    "milli": "m", "centi": "c", "deci": "d", "deca": "da", "deka": "da", "hecto": "h", "kilo": "k",
    "mega": "M", "giga": "G", "tera": "T", "peta": "P", "exa": "E", "kibi": "Ki", "mebi": "Mi",
    "gibi": "Gi",
}  # fmt: skip
_UNITS = {
    "ampere": "A", "candela": "cd", "kelvin": "K", "kilogram": "kg", "metre": "m", "meter": "m",
    "mole": "mol", "second": "s", "becquerel": "Bq", "degreeCelsius": "°C", "celsius": "°C",
    "coulomb": "C", "farad": "F", "gray": "Gy", "hertz": "Hz", "henry": "H", "joule": "J",
    "lumen": "lm", "katal": "kat", "lux": "lx", "newton": "N", "ohm": "Ω", "pascal": "Pa",
    "radian": "rad", "siemens": "S", "sievert": "Sv", "steradian": "sr", "tesla": "T", "volt": "V",
    "watt": "W", "weber": "Wb", "astronomicalunit": "au", "bel": "B", "dalton": "Da", "day": "d",
    "decibel": "dB", "electronvolt": "eV", "hectare": "ha", "hour": "h", "litre": "L", "liter": "L",
    "minute": "min", "arcminute": "′", "arcsecond": "″", "neper": "Np", "tonne": "t", "degree": "°",
    "percent": "%", "bit": "bit", "byte": "B", "angstrom": "Å", "bar": "bar", "mmHg": "mmHg",
    "gram": "g", "permille": "‰", "atomicmassunit": "u", "barn": "b", "knot": "kn",
    "fg": "fg", "pg": "pg", "ng": "ng", "ug": "µg", "mg": "mg", "g": "g", "kg": "kg", "pm": "pm",
    "nm": "nm", "um": "µm", "mm": "mm", "cm": "cm", "dm": "dm", "m": "m", "km": "km", "as": "as",
    "fs": "fs", "ps": "ps", "ns": "ns", "us": "µs", "ms": "ms", "s": "s", "fmol": "fmol",
    "pmol": "pmol", "nmol": "nmol", "umol": "µmol", "mmol": "mmol", "mol": "mol", "kmol": "kmol",
    "pA": "pA", "nA": "nA", "uA": "µA", "mA": "mA", "A": "A", "kA": "kA", "ul": "µl", "ml": "ml",
    "l": "l", "hl": "hl", "uL": "µL", "mL": "mL", "L": "L", "hL": "hL", "mHz": "mHz", "Hz": "Hz",
    "kHz": "kHz", "MHz": "MHz", "GHz": "GHz", "THz": "THz", "mN": "mN", "N": "N", "kN": "kN",
    "MN": "MN", "Pa": "Pa", "kPa": "kPa", "MPa": "MPa", "GPa": "GPa", "mohm": "mΩ", "kohm": "kΩ",
    "Mohm": "MΩ", "pV": "pV", "nV": "nV", "uV": "µV", "mV": "mV", "V": "V", "kV": "kV", "uW": "µW",
    "nW": "nW", "mW": "mW", "W": "W", "kW": "kW", "MW": "MW", "GW": "GW", "uJ": "µJ", "mJ": "mJ",
    "J": "J", "kJ": "kJ", "eV": "eV", "meV": "meV", "keV": "keV", "MeV": "MeV", "GeV": "GeV",
    "TeV": "TeV", "kWh": "kWh", "F": "F", "fF": "fF", "pF": "pF", "nF": "nF", "uF": "µF", "K": "K",
    "dB": "dB", "H": "H", "mH": "mH", "uH": "µH", "C": "C",
}  # fmt: skip
_POWERS_BEFORE = {"square": "2", "cubic": "3"}
_POWERS_AFTER = {"squared": "2", "cubed": "3"}
_SIGNS = {"pm": " ± ", "times": " × ", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "sim": "∼"}
_EXPONENT = re.compile(r"(?<=[0-9.])\s*[eEdD]\s*(?=[+-]?[0-9])")
_BARE_EXPONENT = re.compile(r"\A\s*[eEdD]\s*(?=[+-]?[0-9])")
_UNCERTAIN = re.compile(r"\s*\+-\s*|\s*\+\s*/\s*-\s*")
_PRODUCT = re.compile(r"(?<=[0-9)])\s*x\s*(?=[0-9.])")
_BETWEEN_DIGITS = re.compile(r"(?<=[0-9.,])\s+(?=[0-9])|~")
_COMMA = re.compile(",")


class NumberOptions:
    """Which signs siunitx was told to expect in numbers."""

    def __init__(self) -> None:
        self.comma_is_decimal = True

    def told(self, options: str) -> "NumberOptions":
        """With some more options, such as `input-ignore={,}`."""
        found = NumberOptions()
        found.comma_is_decimal = self.comma_is_decimal
        for name, value in re.findall(r"([a-z-]+)\s*=\s*(\{[^{}]*\}|[^,{}]*)", options):
            if name in ("input-ignore", "input-symbols") and "," in value:
                found.comma_is_decimal = False
            if name == "input-decimal-markers":
                found.comma_is_decimal = "," in value
        return found


def number(tokens: Tokens, options: NumberOptions) -> PlacedText:
    text, places = "", list[int]()
    for token in tokens:
        written, where = token.text, token.places
        if token.kind == COMMAND:
            written = _SIGNS.get(token.text, "")
            where = standing_for(len(written), token.at, token.end)
        elif token.kind in "{}$":
            continue
        text += written
        places += where
    return as_number(PlacedText(text, places), options)


def as_number(found: PlacedText, options: NumberOptions) -> PlacedText:
    """`1.2e-3` is 1.2 × 10^-3, `12 345` is 12345."""
    found = found.stripped().replaced(_BARE_EXPONENT, lambda _: "10^")
    found = found.replaced(_EXPONENT, lambda _: " × 10^")
    found = found.replaced(_UNCERTAIN, lambda _: " ± ")
    found = found.replaced(_PRODUCT, lambda _: " × ")
    found = found.replaced(_BETWEEN_DIGITS, lambda _: "")
    comma = "." if options.comma_is_decimal else ","
    return found.replaced(_COMMA, lambda _: comma)


def split(tokens: Tokens, sign: str) -> list[Tokens]:
    """Numbers of a list, or parts of an angle."""
    found: list[Tokens] = [[]]
    for token in tokens:
        rest = token
        while rest.kind == "text" and sign in rest.text:
            cut = rest.text.index(sign)
            found[-1].append(rest.part(0, cut))
            found.append([])
            rest = rest.part(cut + 1)
        found[-1].append(rest)
    return found


def unit(tokens: Tokens) -> str:
    """`\\kilo\\gram\\per\\metre\\squared` is kg/m^2; what is typed as it is to look stays."""
    if not any(token.kind == COMMAND for token in tokens):
        return "".join(map(_literal, tokens)).strip()
    written = prefix = power = ""
    divided, index = False, 0
    while index < len(tokens):
        token = tokens[index]
        name = token.text
        index += 1
        if token.kind != COMMAND:
            written += _literal(token)
        elif name == "per":
            divided = True
        elif name in _PREFIXES:
            prefix = _PREFIXES[name]
        elif name in _POWERS_BEFORE:
            power = _POWERS_BEFORE[name]
        elif name in _POWERS_AFTER:
            written += f"^{_POWERS_AFTER[name]}"
        elif name in ("tothe", "raiseto", "of", "highlight"):
            inside, index = _group(tokens, index)
            written += f"^{inside}" if name == "tothe" else ""
            power = inside if name == "raiseto" else power
        elif symbol := _UNITS.get(name, name if name.isalpha() else ""):
            written += "/" if divided else " " * bool(written)
            written += prefix + symbol + (f"^{power}" if power else "")
            prefix, power, divided = "", "", False
    return written.strip()


def _literal(token: Token) -> str:
    return "" if token.kind in "{}$" else token.text.strip().replace(".", " ").replace("~", " ")


def _group(tokens: Tokens, index: int) -> tuple[str, int]:
    """What stands in braces from there on, and where it ends."""
    if index >= len(tokens) or tokens[index].kind != "{":
        return "", index
    end = index + 1
    while end < len(tokens) and tokens[end].kind != "}":
        end += 1
    return plain(tokens[index + 1 : end]).strip(), end + 1
