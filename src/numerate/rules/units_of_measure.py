"""Units of measurement: how they are written, and how they are converted."""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit as a multiple of one unit of its quantity, the same for all units of the quantity."""

    name: str
    quantity: str
    size: Fraction
    zero: Fraction = Fraction(0)  # where its scale begins; not 0 for temperatures

    def line_to(self, other: "Unit") -> tuple[float, float] | None:
        """Return the factor and the summand that convert to another unit, or None where the other
        is of another quantity."""
        if self.quantity != other.quantity:
            return None
        return float(self.size / other.size), float((self.zero - other.zero) / other.size)


_POUND, _INCH = Fraction("0.45359237"), Fraction("0.0254")
_GRAVITY = Fraction("9.80665")
_MERCURY = Fraction("13595.1")  # kilograms in a cubic metre
_FAHRENHEIT = Fraction(5, 9)

# How a unit may be written, and what it is: in seconds, grams, metres, litres, joules, pascals and
# kelvins. The factors are exact. Months and years have several lengths and are left out.
UNITS = {
    "s|sec|secs|seconds?": Unit("second", "time", Fraction(1)),
    "min|mins|minutes?": Unit("minute", "time", Fraction(60)),
    "h|hr|hrs|hours?": Unit("hour", "time", Fraction(3600)),
    "days?|d": Unit("day", "time", Fraction(86_400)),
    "weeks?|wks?": Unit("week", "time", Fraction(604_800)),
    "ng": Unit("nanogram", "mass", Fraction(1, 10**9)),
    "[µμ]g|mcg|micrograms?": Unit("microgram", "mass", Fraction(1, 10**6)),
    "mg|milligrams?": Unit("milligram", "mass", Fraction(1, 1000)),
    "g|grams?": Unit("gram", "mass", Fraction(1)),
    "kg|kilograms?": Unit("kilogram", "mass", Fraction(1000)),
    "lbs?|pounds?": Unit("pound", "mass", 1000 * _POUND),
    "oz|ounces?": Unit("ounce", "mass", 1000 * _POUND / 16),
    "nm": Unit("nanometre", "length", Fraction(1, 10**9)),
    "[µμ]m": Unit("micrometre", "length", Fraction(1, 10**6)),
    "mm": Unit("millimetre", "length", Fraction(1, 1000)),
    "cm": Unit("centimetre", "length", Fraction(1, 100)),
    "m|meters?|metres?": Unit("metre", "length", Fraction(1)),
    "km|kilometers?|kilometres?": Unit("kilometre", "length", Fraction(1000)),
    "inch|inches|in": Unit("inch", "length", _INCH),
    "ft|feet|foot": Unit("foot", "length", 12 * _INCH),
    "yards?|yd": Unit("yard", "length", 36 * _INCH),
    "miles?|mi": Unit("mile", "length", 63_360 * _INCH),
    "[µμ][lL]": Unit("microlitre", "volume", Fraction(1, 10**6)),
    "m[lL]": Unit("millilitre", "volume", Fraction(1, 1000)),
    "d[lL]": Unit("decilitre", "volume", Fraction(1, 10)),
    "L|l|liters?|litres?": Unit("litre", "volume", Fraction(1)),
    "kcal": Unit("kilocalorie", "energy", Fraction(4184)),
    "kJ": Unit("kilojoule", "energy", Fraction(1000)),
    "mmHg|mm Hg": Unit("millimetre of mercury", "pressure", _MERCURY * _GRAVITY / 1000),
    "kPa": Unit("kilopascal", "pressure", Fraction(1000)),
    "psi": Unit("pound per square inch", "pressure", _POUND * _GRAVITY / _INCH**2),
    "° ?C|ºC|degrees C(?:elsius)?": Unit(
        "degree Celsius", "temperature", Fraction(1), Fraction("273.15")
    ),
    "° ?F|ºF|degrees F(?:ahrenheit)?": Unit(
        "degree Fahrenheit", "temperature", _FAHRENHEIT, Fraction("459.67") * _FAHRENHEIT
    ),
}


@lru_cache(maxsize=1 << 10)
def unit_of(written: str) -> Unit | None:
    """Return the unit that is written so, or None where that is no unit."""
    units = (unit for pattern, unit in UNITS.items() if re.fullmatch(pattern, written))
    return next(units, None)
