"""What the API says of a file that was opened: its blocks, and what is wrong with them."""

from typing import Literal

from pydantic import Field

from numerate.serve.messages import CheckRequest, Covered, Found, Given

Format = Literal["html", "json"]


class ReportRequest(CheckRequest):
    format: Format = Field("html", description="As numerate check --format writes it.")


class Marked(Given):
    """A stretch of text of which something is said."""

    text: str
    numeral_of: list[int] = Field(description="Findings that it is the numeral of, from 0.")
    evidence_of: list[int] = Field(description="Findings that rest on it.")


Segments = list[str | Marked]


class TextBlock(Given):
    kind: Literal["", "#", "##", "###", "####", "#####", "######", "item", "numbered", "code"] = (
        Field(description="A paragraph; a heading by its level; of a list; code.")
    )
    text: Segments


class TableBlock(Given):
    kind: Literal["table"]
    label: str
    caption: Segments
    header: list[list[Segments]]
    body: list[list[Segments]]
    notes: Segments


class Change(Given):
    """How the suggestion would be written into the file."""

    start: int = Field(description="The first byte of the numeral.")
    end: int = Field(description="One past its last byte.")
    base64: str = Field(description="The bytes to write instead.")


class FileFound(Found):
    """What is wrong with a numeral of a file; offsets count in its text, or where it has none, in
    the paragraph or cell."""

    file: str
    line: int | None
    page: int | None
    change: Change | None = Field(description="Null where only people can change the file.")


class FileAnswer(Given):
    name: str
    blocks: list[TextBlock | TableBlock] = Field(description="Text and tables in their order.")
    findings: list[FileFound] = Field(description="What is wrong, the most probable first.")
    coverage: dict[str, Covered]
    summary: str
    notices: list[str] = Field(description="What else is to be known of how it was read.")
