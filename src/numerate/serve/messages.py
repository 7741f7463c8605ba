"""What the API takes and gives, as its OpenAPI document describes it.

Offsets count Unicode code points, as Python does. Requests are strict: no unknown field, no NaN,
no number written as a string.
"""

import unicodedata
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from numerate.lm.model.assess import LEVEL
from numerate.proofread.options import MIN_PROBABILITY


def _plain(text: str) -> str:
    for position, character in enumerate(text):
        kind = unicodedata.category(character)
        if kind == "Cs" or (kind == "Cc" and character not in "\t\n\f\r"):
            what = "lone surrogate" if kind == "Cs" else "control character"
            raise ValueError(f"{what} U+{ord(character):04X} at {position}")
    return text


Text = Annotated[str, AfterValidator(_plain)]
Alarms = Annotated[float, Field(gt=0, lt=1)]


class Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Cells(Asked):
    """A table by its cells; a cell that spans others is repeated in each."""

    label: Text = Field("", description="What it is called: Table 2.", examples=["Table 2"])
    caption: Text = ""
    header: list[list[Text]] = Field([], description="Rows that say what the columns are.")
    body: list[list[Text]] = Field(description="The other rows.")


Tables = Annotated[
    list[Text | Cells] | None,
    Field(
        description="Tables that the model has in view, as text (CSV, TSV, Markdown or HTML) or by "
        "their cells. By default those that the server was started with.",
        examples=[["Measure,Placebo,Treated\nAge,57.3,61.5"]],
    ),
]


class Given(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class CheckRequest(Asked):
    text: Text = Field(description="The text to check.", examples=["The ejection fraction is 5 %."])
    alarms: Alarms | None = Field(
        None,
        description="Rate of false alarms on text like the training data; by default 0.01, or the "
        "finest that a small dev split allows.",
    )
    min_probability: float = Field(
        MIN_PROBABILITY,
        ge=0,
        le=1,
        description="Findings that are less probable to be errors are left out.",
    )
    details: bool = Field(False, description="Also what was expected instead, which takes longer.")
    select: list[Text] = Field(
        [], description="Codes of rules, or their beginnings; by default all.", examples=[["NUM3"]]
    )
    ignore: list[Text] = Field([], description="Codes that are not looked for.")
    tables: Tables = None


class PredictRequest(Asked):
    text: Text = Field(
        description="Text before the numeral, or with ___ in its place; then what follows counts.",
        examples=["The ejection fraction is ___ %."],
    )
    start: int | None = Field(
        None,
        ge=0,
        description="With `end`: where a written numeral stands; what follows is ignored.",
    )
    end: int | None = Field(None, ge=0, description="One past its last character.")
    count: int = Field(10, ge=1, le=50, description="How many of the most probable numerals.")
    level: float = Field(LEVEL, gt=0, lt=1, description="Probability of the plausible range.")
    calibrated: bool = Field(
        True, description="As often as it says, where that is known; false: the model's own."
    )
    tables: Tables = None


class RankRequest(Asked):
    claims: list[Text] = Field(
        min_length=1,
        description="Texts to order by how probable their numerals are in context.",
        examples=[["His height is 1.75 metres.", "His height is 999.999 metres."]],
    )
    by: Literal["numerals", "sentence"] = Field(
        "numerals", description="Order by the numerals alone, or by the whole text."
    )
    tables: Tables = None


class TablesRequest(Asked):
    text: Text = Field(
        description="Tables as CSV, TSV, Markdown or HTML.",
        examples=["Measure,Placebo,Treated\nAge,57.3,61.5"],
    )


class Problem(BaseModel):
    """The body of every answer that is an error."""

    error: str = Field(description="One line for people.")


class Range(Given):
    level: float = Field(description="Probability of a number in the range.")
    low: float
    high: float
    calibrated: bool = Field(
        description="Whether numbers of text like the training data lie in it so often."
    )


class SeenNumber(Given):
    """A number in view: in a table, or in the text."""

    text: str
    start: int | None = Field(description="Where it begins in the text, if it stands there.")
    end: int | None
    table: int | None = Field(
        description="Which table, from 0: those of the request, then those within the text."
    )
    row: int | None = Field(description="Of the body, from 0; -1, -2: of the header, upwards.")
    column: int | None
    label: str = Field(description="What the table is called.")
    row_header: str
    column_header: str


class Source(Given):
    """A part of the probability, and the numbers it comes from."""

    numeral: str
    probability: float
    words: str = Field(description="All of it as people read it: Table 2, Age, Placebo: 51 (0.63).")
    reason: str = Field(description="Where it stands, or how it follows: 100 · 12/48.")
    kind: str | None = Field(description="Name of the operation; null: a copy, perhaps rounded.")
    operation: str | None = Field(description="With its numbers: 100 · 12/48; null: a copy.")
    numbers: list[SeenNumber]


class Checked(Given):
    """A numeral of the text."""

    start: int = Field(description="Where it begins, in code points.")
    end: int = Field(description="One past its last character.")
    written: str = Field(description="As it stands in the text: 2,000.")
    numeral: str = Field(description="As the model reads it: 2000.")
    surprisal: float = Field(description="Minus log of its probability there, in nats.")
    plausibility: float = Field(description="Share of ordinary numerals that are at least as odd.")
    flagged: bool = Field(description="Whether it is implausible where it stands.")
    level: Literal["plausible", "unusual", "implausible"]
    verdict: str = Field(description="The level in words: implausible here.")
    percentile: float | None = Field(
        None, description="Where it lies in what was expected, 0 to 1."
    )
    interval: tuple[float, float] | None = Field(None, description="The plausible range there.")
    likely: str | None = Field(None, description="The most probable numeral there.")
    reason: str | None = Field(
        None, description="What is odd: magnitude, precision or digits; null where nothing is."
    )
    explanation: str | None = Field(None, description="All of this as a sentence or two.")
    sign: int | None = Field(None, description="Of the number as people read it: 1 or -1.")
    power: int | None = Field(None, description="Its power of ten: -16 in 2.2e-16.")
    sources: list[Source] | None = Field(
        None, description="Of what was expected instead, where it is flagged."
    )


class Trait(Given):
    value: float = Field(description="In the text.")
    usual: float = Field(description="In text like the training data, as long as this.")
    limit: float = Field(description="What hardly any such text exceeds.")


class Domain(Given):
    """Whether the text is of the kind that the model was trained on."""

    fits: bool | None = Field(description="null: too short to tell.")
    misfit: str | None = Field(description="Where it does not fit, one line that says why.")
    unknown_words: Trait | None = Field(None, description="Share of words unknown to the model.")
    word_surprisal: Trait | None = Field(None, description="Nats a word.")
    strangeness: Trait | None = Field(None, description="Of the typical numeral.")


class FoundAt(Given):
    """A place in the text or in a table."""

    words: str = Field(description="For people: Table 2, row Heart rate, column Placebo.")
    text: str = Field(description="What stands there.")
    start: int | None = Field(description="Where it begins in the text, if it stands there.")
    end: int | None
    table: int | None = Field(
        description="Which table, from 0: those of the request, then those within the text."
    )
    row: int | None = Field(description="Of the body, from 0; -1, -2: of the header, upwards.")
    column: int | None


class FoundEvidence(Given):
    kind: Literal["recomputed", "detected", "unlikely"]
    said: str = Field(description="Arithmetic, or what stands elsewhere.")
    places: list[FoundAt]


class FoundSuggestion(Given):
    text: str = Field(description="As it would be written in the place of the numeral.")
    probability: float | None


class Found(FoundAt):
    """What is wrong with a numeral."""

    code: str = Field(description="Of the rule: NUM301.")
    rule: str = Field(description="Its name: test-statistic-p-value.")
    also: list[str] = Field(description="Codes of others that point to the same numeral.")
    message: str
    written: str
    probability: float = Field(description="That it is an error.")
    calibrated: bool = Field(description="Whether the text fits the model, if only it speaks.")
    evidence: list[FoundEvidence]
    involved: list[FoundAt] = Field(description="All numerals of the statement.")
    suggestion: FoundSuggestion | None
    fingerprint: str


class Covered(Given):
    total: int = Field(description="Statements of a kind.")
    recomputed: int
    missing: dict[str, int] = Field(description="What the others lack.")


class CheckAnswer(Given):
    findings: list[Found] = Field(description="What is wrong, the most probable first.")
    coverage: dict[str, Covered] = Field(description="What could be recomputed.")
    summary: str = Field(description="All of it in a line.")
    numerals: list[Checked] = Field(
        description="Every numeral as the language model finds it, in the order of the text."
    )
    flagged: int = Field(description="How many of them are flagged.")
    domain: Domain | None = Field(
        description="Where the text does not fit, flags are uncalibrated; null: no language model."
    )


class Likely(Given):
    numeral: str
    probability: float


class Written(Given):
    numeral: str
    value: float
    probability: float
    below: float = Field(description="Probability of a number at most as large.")
    reason: str = Field(description="What is odd, were it flagged: magnitude, precision or digits.")
    oddness: str = Field(description="The reason in words: it is far larger than expected.")


class BarChart(Given):
    """Probability between edges; one more edge than masses."""

    edges: list[float]
    masses: list[float]


class NumberLine(Given):
    linear: BarChart = Field(description="Bars of equal width.")
    log: BarChart = Field(description="Bars of equal ratio; one that begins at 0 holds zero.")


class Share(Given):
    strategy: str
    share: float = Field(description="Part of the prediction that comes from this strategy.")


class PredictAnswer(Given):
    top: list[Likely] = Field(description="The most probable numerals, best first.")
    median: float
    interval: Range = Field(description="The plausible range.")
    written: Written | None = Field(description="The numeral at `start`, where one was asked for.")
    bars: NumberLine = Field(description="The distribution, to be drawn.")
    shares: list[Share] = Field(description="For a combination; empty for other models.")
    sources: list[Source] = Field(
        description="Where its probability comes from, as far as from numbers in view, best first."
    )


class Contribution(Given):
    """What one numeral adds to the score of its claim."""

    numeral: str
    start: int = Field(description="Where it begins in the claim, in code points.")
    end: int
    log_prob: float = Field(description="In nats, given that a numeral comes there.")


class Ranked(Given):
    text: str = Field(description="The claim.")
    place: int = Field(description="Of the claim in the request, from 0.")
    log_prob: float = Field(description="By which claims are ordered, in nats.")
    numerals: list[Contribution]
    words_log_prob: float = Field(description="Of all else in the claim, in nats.")
    reason: str = Field(description="What sets it apart from the first; empty for the first.")


class RankAnswer(Given):
    by: Literal["numerals", "sentence"]
    claims: list[Ranked] = Field(description="The most probable claim first.")


class TableAnswer(Given):
    label: str
    caption: str
    header: list[list[str]]
    body: list[list[str]]


class TablesAnswer(Given):
    tables: list[TableAnswer]


class LimitsAnswer(Given):
    characters: int
    numerals: int
    tables: int
    table_characters: int
    table_numbers: int
    gap_tokens: int
    claims: int
    body_bytes: int
    file_bytes: int
    file_characters: int
    seconds: float


class ModelAnswer(Given):
    name: str | None = Field(description="Of the run; null: there is no language model.")
    strategy: str | None = Field(description="One of the models of numerate train.")
    members: list[str] = Field(description="Strategies of a combination; empty for other models.")
    detectors: list[str] = Field(description="Names of the detectors that check.")
    sees_tables: bool = Field(description="Whether the language model sees tables.")
    tables: list[TableAnswer] = Field(description="In view where a request gives none.")
    limits: LimitsAnswer = Field(description="Of one request.")
    examples: list[str] = Field(description="Texts to try.")


class HealthAnswer(Given):
    status: Literal["ok"]
    busy: int = Field(description="Requests that compute or wait.")
