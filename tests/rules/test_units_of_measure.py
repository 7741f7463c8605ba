"""The table of units, against the one of pint."""

import subprocess
import sys
from itertools import product

import pint
import pytest

from numerate.rules.units_of_measure import UNITS, Unit, unit_of

PINT = {
    "millimetre of mercury": "millimeter_Hg",
    "pound per square inch": "psi",
    "degree Celsius": "degC",
    "degree Fahrenheit": "degF",
}


@pytest.fixture(scope="module")
def registry() -> pint.UnitRegistry:
    return pint.UnitRegistry()


def name_in_pint(unit: Unit) -> str:
    return PINT.get(unit.name, unit.name)


@pytest.mark.parametrize("unit", UNITS.values(), ids=lambda unit: unit.name)
def test_it_converts_as_pint_does(unit: Unit, registry: pint.UnitRegistry) -> None:
    for other in UNITS.values():
        line = unit.line_to(other)
        ours, theirs = registry(name_in_pint(unit)), registry(name_in_pint(other))
        assert (line is None) == (ours.dimensionality != theirs.dimensionality)
        if line is not None:
            factor, summand = line
            for value in (1.0, 37.5):
                expected = registry.Quantity(value, name_in_pint(unit)).m_as(name_in_pint(other))
                assert factor * value + summand == pytest.approx(expected, rel=1e-12, abs=0)


def test_there_and_back_is_where_one_was() -> None:
    for unit, other in product(UNITS.values(), repeat=2):
        there, back = unit.line_to(other), other.line_to(unit)
        if there is not None and back is not None:
            assert (100 * there[0] + there[1]) * back[0] + back[1] == pytest.approx(100, rel=1e-12)


def test_spellings_of_one_unit_are_one() -> None:
    spellings = [
        "mcg",
        "μg",
        "µg",
        "mL",
        "ml",
        "ºC",
        "° C",
        "°F",
        "mm Hg",
        "lbs",
        "feet",
        "in",
        "d",
    ]
    names = {written: unit_of(written) for written in spellings}
    assert None not in names.values()
    assert names["mcg"] is names["μg"] is names["µg"]
    assert unit_of("furlong") is None
    assert len({unit.name for unit in UNITS.values()}) == len(UNITS)


def test_check_needs_no_pint() -> None:
    code = (
        "import sys, numerate; found = numerate.check('It took 90 min (2.5 h).', ignore=['NUM8']);"
        "print([one.code for one in found], 'pint' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['NUM603'] False"
