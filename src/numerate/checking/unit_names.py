"""Units of measurement, as they are written."""

import re
from functools import lru_cache

# How a unit may be written, and what it is called where units are converted. Months and years are
# of several lengths, and so are left out.
UNITS = {
    "s|sec|secs|seconds?": "second",
    "min|mins|minutes?": "minute",
    "h|hr|hrs|hours?": "hour",
    "days?|d": "day",
    "weeks?|wks?": "week",
    "ng": "nanogram",
    "[µμ]g|mcg|micrograms?": "microgram",
    "mg|milligrams?": "milligram",
    "g|grams?": "gram",
    "kg|kilograms?": "kilogram",
    "lbs?|pounds?": "pound",
    "oz|ounces?": "ounce",
    "nm": "nanometer",
    "[µμ]m": "micrometer",
    "mm": "millimeter",
    "cm": "centimeter",
    "m|meters?|metres?": "meter",
    "km|kilometers?|kilometres?": "kilometer",
    "inch|inches|in": "inch",
    "ft|feet|foot": "foot",
    "yards?|yd": "yard",
    "miles?|mi": "mile",
    "[µμ][lL]": "microliter",
    "m[lL]": "milliliter",
    "d[lL]": "deciliter",
    "L|l|liters?|litres?": "liter",
    "kcal": "kilocalorie",
    "kJ": "kilojoule",
    "mmHg|mm Hg": "millimeter_Hg",
    "kPa": "kilopascal",
    "psi": "psi",
    "° ?C|ºC|degrees C(?:elsius)?": "degC",
    "° ?F|ºF|degrees F(?:ahrenheit)?": "degF",
}


@lru_cache(maxsize=1 << 10)
def unit_name(written: str) -> str | None:
    """What a unit is called, however it is written; None: it is no unit."""
    names = (name for pattern, name in UNITS.items() if re.fullmatch(pattern, written))
    return next(names, None)
