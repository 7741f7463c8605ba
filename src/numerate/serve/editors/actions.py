"""Quick fixes: the number that is suggested, or word in the text that a finding is known.

An editor moves its marks as the text changes, and gives them back; what is offered rests on them
and on what stands there now, so that nothing is ever written over that was not looked at.
"""

from collections.abc import Iterable, Iterator

from lsprotocol import types

from numerate.serve.editors.buffers import Buffer
from numerate.serve.editors.diagnostics import SOURCE, range_of
from numerate.serve.editors.positions import Encoding, Lines

COMMENTS = {"markdown": " <!-- {} -->", "latex": " % {}", "text": " <!-- {} -->"}
"""At the end of a line, by the format."""


def actions(
    buffer: Buffer, marks: Iterable[types.Diagnostic], encoding: Encoding
) -> Iterator[types.CodeAction]:
    lines = Lines(buffer.text, encoding)
    for mark in marks:
        data = mark.data if isinstance(mark.data, dict) else {}
        start = lines.offset(mark.range.start.line, mark.range.start.character)
        end = lines.offset(mark.range.end.line, mark.range.end.character)
        if mark.source != SOURCE or lines.text[start:end] != data.get("written"):
            continue
        if "instead" in data:
            instead = str(data["instead"])
            yield _action(
                f"Write {instead} instead of {data['written']}",
                buffer,
                types.TextEdit(range_of(lines, start, end), instead),
                mark,
            )
        comment = COMMENTS[buffer.format or "text"].format(f"numerate: ignore[{mark.code}]")
        at = lines.end_of_line(start)
        yield _action(
            f"Ignore {mark.code} in this line",
            buffer,
            types.TextEdit(range_of(lines, at, at), comment),
            mark,
        )


def _action(
    title: str, buffer: Buffer, edit: types.TextEdit, mark: types.Diagnostic
) -> types.CodeAction:
    version = types.OptionalVersionedTextDocumentIdentifier(buffer.uri, buffer.version)
    return types.CodeAction(
        title,
        types.CodeActionKind.QuickFix,
        [mark],
        edit=types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(version, [edit])]),
    )
