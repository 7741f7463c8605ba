"""What rules and models say of each numeral, as `check` and its benchmark weigh it."""

from collections.abc import Iterable

from numerate.proofread.joining import Features, features_of
from numerate.proofread.model_rules import DETECTED_CODE, UNLIKELY_CODE
from numerate.proofread.witnesses import Suspicion
from numerate.rules.finding import Finding
from numerate.rules.reading import ReadDocument
from numerate.rules.rule import RULES
from numerate.rules.where import Where

Key = tuple[object, ...]


class Heard:
    """By the characters that numerals cover, so that all of it takes linear time."""

    def __init__(
        self,
        read: ReadDocument,
        findings: Iterable[Finding],
        suspicions: Iterable[Suspicion] = (),
    ) -> None:
        self._read = read
        self._pointed: dict[Key, list[float]] = {}
        self._involved: dict[Key, list[float]] = {}
        self._said: dict[str, dict[Key, list[float]]] = {DETECTED_CODE: {}, UNLIKELY_CODE: {}}
        for finding in findings:
            precision = precision_of(finding)
            self._note(self._pointed, finding.where, precision)
            for where in finding.involved:
                if where != finding.where:
                    self._note(self._involved, where, precision)
        for suspicion in suspicions:
            if suspicion.counts:
                self._note(self._said[suspicion.code], suspicion.where, suspicion.strength)

    def keys(self, where: Where) -> list[Key]:
        """One for each character: of the source, where a cell and a line may be the same place."""
        span = self._read.span(where)
        if span is not None:
            return [(at,) for at in range(*span)]
        return [(*where.text_of, at) for at in range(where.start, where.end)]

    def features(self, where: Where) -> Features:
        """Of the numeral that stands there."""
        keys = self.keys(where)

        def found(said: dict[Key, list[float]]) -> list[float]:
            return next((said[key] for key in keys if key in said), [])

        return features_of(
            found(self._pointed),
            found(self._involved),
            found(self._said[DETECTED_CODE]),
            found(self._said[UNLIKELY_CODE]),
        )

    def _note(self, said: dict[Key, list[float]], where: Where, value: float) -> None:
        """One list for all characters of a numeral."""
        keys = self.keys(where)
        values = next((said[key] for key in keys if key in said), [])
        values.append(value)
        for key in keys:
            said.setdefault(key, values)


def precision_of(finding: Finding) -> float:
    return RULES[finding.code].precision
