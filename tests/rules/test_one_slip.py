import pytest

from numerate.rules.one_slip import one_slip


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("53", "35"),
        ("79.5", "97.5"),
        ("6.2", "2.6"),
        ("12", "13"),
        ("135", "15"),
        ("15", "135"),
        ("1.25", "12.5"),
        ("120", "12"),
        ("1,906", "1,096"),
        ("0.05", ".5"),
    ],
)
def test_one_slip(written: str, meant: str) -> None:
    assert one_slip(written, meant)
    assert one_slip(meant, written)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("12", "12"), ("12", "34"), ("123", "321"), ("1,000", "1000"), ("12.5", "1345"), ("5", "123")],
)
def test_more_than_one_slip_or_none(written: str, meant: str) -> None:
    assert not one_slip(written, meant)
