"""One line of a word processor's document, put together from runs of text."""

import re

from numerate.documents.flow import Flow

SUPERSCRIPT, SUBSCRIPT = "superscript", "subscript"
SHORT = 8  # runs
NUMBER_ALONE = re.compile(r"[\W_]*[0-9][0-9.,–()\[\] -]*")
"""What a reference may show: the number of a section, and no words."""


class ScriptedLine:
    """Text of one paragraph, or of several within a cell. Runs side by side with the same script
    are one script: a word processor cuts them anywhere."""

    def __init__(self) -> None:
        self._flow = Flow()
        self._texts: list[str] = []
        self._pending: list[str] = []  # in one run after another, all of one script
        self._script: str | None = None

    def text(self, text: str, script: str | None = None) -> None:
        script = script if script in (SUPERSCRIPT, SUBSCRIPT) else None
        if script != self._script:
            self._flush()
            self._script = script
        self._pending.append(text)
        self._texts.append(text)

    def space(self) -> None:
        self._flush()
        self._flow.space()
        self._texts.append(" ")

    def border(self) -> None:
        """Keep what follows apart from what stands before: a note was referred to here."""
        self._flush()
        self._flow.border()

    def mark(self, mark: str, shown: str = "") -> None:
        """Write a citation or a reference."""
        self._flush()
        self._flow.mark(mark, shown=shown)
        self._texts.append(shown)

    def formula(self, text: str) -> None:
        self._flush()
        self._flow.border()
        self._flow.text(text)
        self._flow.border()
        self._texts.append(text)

    def finish(self) -> str:
        self._flush()
        return self._flow.finish()

    @property
    def written(self) -> str:
        """The text as it stands there, with the numbers of the tables that it names."""
        return "".join(self._texts)

    @property
    def is_short(self) -> bool:
        """Whether it consists of a few runs only, so that to look at all of it costs little."""
        return len(self._texts) <= SHORT

    def _flush(self) -> None:
        text = "".join(self._pending)
        self._pending = []
        if self._script is None or not text.strip():
            self._flow.text(text)
        elif self._script == SUPERSCRIPT:
            self._flow.superscript(text)
        else:
            self._flow.subscript(text)
