"""Models that remember what they have said of a paragraph, as long as it stays what it is.

An edit changes one paragraph of many, and reading is what takes time. A model sees a paragraph and
the tables in view of it, so that is what an answer is remembered by.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from numerate.detector.scored import Scored, Told
from numerate.detector.trained import Calibrations, Detector
from numerate.documents.document import Document, Paragraph, Table
from numerate.lm.model.assessments import Assessment, Assessments, Glance
from numerate.lm.model.domain import Comparison, Traits
from numerate.proofread.model_evidence import DetectorLike, LanguageModel
from numerate.rules.where import Where
from numerate.text.seen_numbers import SeenNumber, Source

if TYPE_CHECKING:
    from numerate.lm.model.calibration import Calibration

MOST_REMEMBERED = 5000  # paragraphs and tables
LONGEST = 20_000  # characters of a paragraph that models are shown
TEXTS_OF_TABLE = 64  # that detectors compare its numbers with

Answer = TypeVar("Answer")


class Memory(Generic[Answer]):
    """Answers by what they rest on; what has not been of use for longest is forgotten first."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, Answer] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._known

    def recall(self, key: Hashable, find: Callable[[], Answer]) -> Answer:
        if key not in self._known:
            self.put(key, find())
        self._known.move_to_end(key)
        return self._known[key]

    def put(self, key: Hashable, answer: Answer) -> None:
        self._known[key] = answer
        if len(self._known) > MOST_REMEMBERED:
            self._known.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Part:
    """Some paragraphs and tables of a document, as a document of their own."""

    document: Document
    paragraphs: list[int]  # which they are in the whole
    tables: list[int]
    key: tuple[Hashable, Hashable]  # of the texts, and of the tables

    @classmethod
    def of(cls, whole: Document, paragraphs: Iterable[int], tables: Iterable[int]) -> "Part":
        paragraphs, tables = list(paragraphs), list(tables)
        texts = [whole.paragraphs[index] for index in paragraphs]
        seen = [whole.tables[index] for index in tables]
        bare = [Paragraph(one.text, one.tables, one.holds) for one in texts]
        key = (
            tuple((one.text, one.tables, one.holds) for one in texts),
            tuple(map(_content, seen)),
        )
        return cls(Document(whole.name, bare, seen), paragraphs, tables, key)

    @classmethod
    def around(cls, whole: Document, paragraph: int) -> "Part":
        """A paragraph and the tables in view of it, or within it."""
        text = whole.paragraphs[paragraph]
        ids = {*text.tables, *text.holds}
        return cls.of(
            whole, [paragraph], [at for at, table in enumerate(whole.tables) if table.id in ids]
        )

    def where(self, place: Where) -> Where:
        """A place of the part, in the whole."""
        if place.table is not None:
            return replace(place, table=self.tables[place.table])
        return replace(place, paragraph=self.paragraphs[place.paragraph or 0])

    def scored(self, some: Iterable[Scored]) -> list[Scored]:
        """The same, in the whole."""
        return [replace(one, where=self.where(one.where)) for one in some]


def _content(table: Table) -> Hashable:
    rows = (table.header, table.body)
    cells = tuple(tuple(tuple(row) for row in some) for some in rows)
    return table.id, table.label, table.caption, table.notes, table.repeated, cells


class RememberingDetector:
    """As the detector itself, for `proofread`.

    Numbers of a table are compared with all texts that refer to it, so that an edit of one of
    them costs the reading of all. Until they `catch_up`, what was said of the table counts on.
    """

    def __init__(self, detector: DetectorLike, lock: Lock) -> None:
        self._detector, self._lock = detector, lock
        self._of_texts = detector
        if isinstance(detector, Detector):
            texts = Calibrations(detector.calibrations.texts)  # and so none of cells
            self._of_texts = Detector(detector.name, detector.classifier, detector.rules, texts)
        self._texts: Memory[list[Scored]] = Memory()
        self._cells: Memory[tuple[Hashable, list[Scored]]] = Memory()  # and by which texts
        self.name = detector.name

    @property
    def finest_alarms(self) -> float:
        return self._detector.finest_alarms

    def unread(self, document: Document) -> int:
        return sum(part.key not in self._texts for part in _parts(document))

    def log_odds(
        self, document: Document, tables: Sequence[Table] = (), told: Told | None = None
    ) -> list[Scored]:
        """Tables beside the document are not seen: an editor shows none."""
        found: list[Scored] = []
        for part in _parts(document):
            scored = self._texts.recall(part.key, partial(self._read, part, self._of_texts))
            found += part.scored(one for one in scored if one.where.paragraph is not None)
            if told is not None:
                told(part.paragraphs[0] + 1)
        for part in _tables(document):
            _, table = part.key
            _, scored = self._cells.recall(table, partial(self._read_table, part))
            found += part.scored(scored)
            if told is not None:
                told(len(document.paragraphs))
        return found

    def catch_up(self, document: Document, report: Told) -> bool:
        """With tables whose texts have changed; whether there are any."""
        is_new = False
        for part in _tables(document):
            texts, table = part.key
            known, _ = self._cells.recall(table, partial(self._read_table, part))
            if known != texts:
                report(len(document.paragraphs))
                self._cells.put(table, self._read_table(part))
                is_new = True
        return is_new

    def _read_table(self, part: Part) -> tuple[Hashable, list[Scored]]:
        scored = self._read(part, self._detector)
        return part.key[0], [one for one in scored if one.where.table is not None]

    def _read(self, part: Part, detector: DetectorLike) -> list[Scored]:
        with self._lock:
            return list(detector.log_odds(part.document, ()))


def _tables(document: Document) -> list[Part]:
    """Each table, and the first of the texts that refer to it."""
    viewing: dict[str, list[int]] = {}
    for index, paragraph in enumerate(document.paragraphs):
        for id in paragraph.tables:
            viewing.setdefault(id, []).append(index)
    return [
        Part.of(document, viewing.get(table.id, [])[:TEXTS_OF_TABLE], [index])
        for index, table in enumerate(document.tables)
    ]


def _parts(document: Document) -> list[Part]:
    """Paragraph by paragraph, those that are not too long."""
    return [
        Part.around(document, index)
        for index, paragraph in enumerate(document.paragraphs)
        if len(paragraph.text) <= LONGEST
    ]


@dataclass(frozen=True, slots=True)
class _Heard:
    """What a language model says of a part, and what the part is like."""

    said: Assessments[Any]
    traits: list[Traits]
    closely: bool  # whether what is flagged has been looked at closely


class RememberingModel:
    """A language model; it is its own `checker`.

    Numerals are glanced at; `look_closer` finds out what was expected instead of those of a
    paragraph, which takes longer, and is remembered as well.
    """

    def __init__(self, model: LanguageModel, name: str, lock: Lock) -> None:
        self.model, self.name, self.lock = model, name, lock
        self._memory: Memory[_Heard] = Memory()

    @property
    def checker(self) -> "RememberingModel":
        return self

    @property
    def sees_tables(self) -> bool:
        return self.model.sees_tables

    @property
    def calibration(self) -> "Calibration":
        found: Calibration = self.model.checker.calibration
        return found

    @property
    def usual_alarms(self) -> float:
        usual: float = self.model.checker.usual_alarms
        return usual

    def sift(
        self,
        document: Document,
        alarms: float,
        tables: Sequence[Table] = (),
        report: Told | None = None,
    ) -> Assessments[Any]:
        """Tables beside the document are not seen: an editor shows none."""
        glances: list[Glance] = []
        closely: list[Assessment] = []
        traits: list[Traits] = []
        for part in self._parts(document):
            key = part.key, alarms
            heard = self._memory.recall(key, partial(self._read, part, alarms))
            if heard.closely:
                closely += (_in_whole(one, part, document) for one in heard.said)
                glances += (_in_whole(one, part, document) for one in heard.said.glances)
            else:
                glances += (_in_whole(one, part, document) for one in heard.said)
            traits += heard.traits
            if report is not None:
                report(part.paragraphs[-1] + 1)
        fit = Comparison(self.calibration.domain, traits).fit()
        return Assessments(closely, len(glances), fit, glances=glances)

    def look_closer(
        self,
        document: Document,
        paragraphs: set[int],
        alarms: float,
        report: Told,
    ) -> bool:
        """At what is flagged in some paragraphs; whether that has not been done before."""
        is_new = False
        for part in self._parts(document):
            if paragraphs.isdisjoint(part.paragraphs):
                continue
            key = part.key, alarms
            closely = partial(self._read, part, alarms, closely=True)
            if not self._memory.recall(key, closely).closely:
                report(part.paragraphs[0])
                self._memory.put(key, closely())
                is_new = True
        return is_new

    def _read(self, part: Part, alarms: float, closely: bool = False) -> _Heard:
        checker = self.model.checker
        comparison = Comparison(self.calibration.domain)
        with self.lock:
            look = checker.sift if closely else checker.glance
            said = look(part.document, alarms, comparison=comparison)
        return _Heard(said, comparison.parts, closely)

    def _parts(self, document: Document) -> list[Part]:
        """A model that sees earlier paragraphs reads the document as one."""
        if getattr(getattr(self.model, "config", None), "sight", None) == "document":
            return [Part.of(document, range(len(document.paragraphs)), range(len(document.tables)))]
        return _parts(document)


Said = TypeVar("Said", Glance, Assessment)


def _in_whole(said: Said, part: Part, whole: Document) -> Said:
    """With places of the whole: offsets into what was given, and its tables."""
    start, end = _offsets(said.start, said.end, part, whole)
    if isinstance(said, Assessment):
        sources = tuple(_source(one, part, whole) for one in said.sources)
        return replace(said, start=start, end=end, sources=sources)
    return replace(said, start=start, end=end)


def _offsets(start: int, end: int, part: Part, whole: Document) -> tuple[int, int]:
    index = part.document.source.paragraph_at(start)
    first = part.document.paragraphs[index].start
    paragraph = whole.paragraphs[part.paragraphs[index]]
    return whole.span(paragraph, start - first, end - first)


def _source(source: Source, part: Part, whole: Document) -> Source:
    return replace(source, numbers=tuple(_number(one, part, whole) for one in source.numbers))


def _number(number: SeenNumber, part: Part, whole: Document) -> SeenNumber:
    if number.table is not None:
        return replace(number, table=part.tables[number.table])
    if number.start is None or number.end is None:
        return number
    start, end = _offsets(number.start, number.end, part, whole)
    return replace(number, start=start, end=end)
