"""Where files are sent: their bytes as the body, their name beside it, nothing of it kept."""

import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from numerate.errors import printable
from numerate.proofread.formats.html_report import as_html
from numerate.proofread.formats.printed_report import as_json
from numerate.proofread.report import Report
from numerate.serve.file_messages import FileAnswer, Format
from numerate.serve.limits import FILES
from numerate.serve.metrics import ServerMetrics
from numerate.serve.opened_files import OpenedFiles
from numerate.serve.problems import RefusedError

BYTES = "application/octet-stream"  # which pages of other sites cannot send unasked
WRITE: dict[Format, tuple[Callable[[Report], str], str]] = {
    "html": (as_html, "text/html"),
    "json": (as_json, "application/json"),
}
Name = Annotated[
    str,
    Query(
        max_length=1000, description="Of the file; its suffix says what it is.", examples=["a.md"]
    ),
]
BODY = {
    "requestBody": {
        "required": True,
        "content": {BYTES: {"schema": {"type": "string", "format": "binary"}}},
    }
}
Compute = Callable[[Request, Callable[[], Any]], Awaitable[Any]]


def file_routes(files: OpenedFiles, compute: Compute, metrics: ServerMetrics) -> APIRouter:
    router = APIRouter()

    @router.post(FILES, openapi_extra=BODY)
    async def document(name: Name, request: Request) -> FileAnswer:
        """A file of any format that is read: its text, its tables, and what is wrong with them."""
        base, data = await _sent(name, request)
        answer: FileAnswer = await compute(request, lambda: files.answer(base, data))
        metrics.checked(answer.findings)
        return answer

    @router.post(f"{FILES}/report", openapi_extra=BODY, response_class=Response)
    async def report(name: Name, request: Request, format: Format = "html") -> Response:
        """The report that numerate check writes of the file."""
        base, data = await _sent(name, request)

        def answer() -> Response:
            found = files.report(base, data)
            metrics.checked(finding for proof in found.documents for finding in proof)
            return report_file(found, format)

        written: Response = await compute(request, answer)
        return written

    return router


def report_file(report: Report, format: Format) -> Response:
    """To be saved, never to be shown as a page of this server's."""
    write, kind = WRITE[format]
    headers = {"content-disposition": f'attachment; filename="report.{format}"'}
    return Response(write(report), media_type=kind, headers=headers)


async def _sent(name: str, request: Request) -> tuple[str, bytes]:
    """The name without folders, which are nobody's concern, and the bytes."""
    if request.headers.get("content-type") != BYTES:
        raise RefusedError(415, f"got no file: expected its bytes as Content-Type: {BYTES}")
    base = printable(re.split(r"[/\\]", name)[-1]).strip()
    if not base.strip("."):
        raise RefusedError(422, "name: got none, expected that of a file, such as paper.docx")
    return base, await request.body()
