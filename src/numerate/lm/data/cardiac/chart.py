"""What a report has said so far, and what that says about numbers not yet written."""

from typing import NamedTuple

from numerate.lm.data.cardiac.attributes import CORRELATION, INDEX, LAWS, MALE, Vector


class Quantity(NamedTuple):
    """A written number, exactly: `units / 10**precision`."""

    units: int
    precision: int

    @classmethod
    def read(cls, text: str) -> "Quantity":
        whole, _, decimals = text.partition(".")
        return cls(int(whole + decimals), len(decimals))

    @property
    def text(self) -> str:
        if not self.precision:
            return str(self.units)
        digits = f"{self.units:0{self.precision + 1}d}"
        return f"{digits[: -self.precision]}.{digits[-self.precision :]}"

    @property
    def value(self) -> float:
        return self.units / 10.0**self.precision


class Chart:
    """The written tokens that matter later, by name, and the attributes given them.

    The Gaussian is kept in standard units of each diagnosis. There the covariance is the same
    for all diagnoses, and conditioning is one regression whose coefficients they share; only
    the means differ.
    """

    __slots__ = ("_covariance", "_means", "laws", "sex", "written")

    def __init__(self) -> None:
        self.sex = MALE  # until sex is written; until then only age is, which does not depend on it
        self.laws: Vector = LAWS[MALE]  # [diagnosis, attribute, (mean, spread, low, high)]
        self.written: dict[str, str] = {}
        self._means: Vector = LAWS[MALE][:, :, 0] * 0.0  # [diagnosis, attribute]
        self._covariance: Vector = CORRELATION

    def copy(self) -> "Chart":
        """Another chart that says the same so far."""
        other = Chart()
        other.sex, other.laws, other.written = self.sex, self.laws, dict(self.written)
        other._means, other._covariance = self._means, self._covariance
        return other

    def __contains__(self, name: str) -> bool:
        return name in self.written

    def quantity(self, name: str) -> Quantity:
        return Quantity.read(self.written[name])

    def state_sex(self, sex: int) -> None:
        self.sex = sex
        self.laws = LAWS[sex]

    def condition(self, attribute: str, value: float) -> None:
        """Learn that `attribute` is `value`, taken as if it had been measured exactly so."""
        index = INDEX[attribute]
        covariance = self._covariance
        gain = covariance[index] / covariance[index, index]  # [attribute]
        standard = (value - self.laws[:, index, 0]) / self.laws[:, index, 1]  # [diagnosis]
        self._means = self._means + (standard - self._means[:, index])[:, None] * gain
        self._covariance = covariance - gain[:, None] * covariance[index]

    def conditional(self, attribute: str) -> list[tuple[float, float, float, float]]:
        """For each diagnosis: mean and spread given what is written, and the interval allowed."""
        index = INDEX[attribute]
        spread = float(self._covariance[index, index]) ** 0.5
        means = self._means[:, index].tolist()
        return [
            (mean + scale * shift, scale * spread, low, high)
            for (mean, scale, low, high), shift in zip(
                self.laws[:, index].tolist(), means, strict=True
            )
        ]
