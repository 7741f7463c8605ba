"""Requests that get no answer but an error: a status, and one line for people.

It is in JSON, but for clients of LanguageTool, which expect what LanguageTool says.
"""

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException

from numerate.errors import NumerateError, TooLongError

LONGEST_MESSAGE = 300
LANGUAGETOOL = "/v2/"  # where its protocol is spoken
GONE = 499  # nobody waits for the answer any more


class RefusedError(Exception):
    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after  # seconds, where trying again may help


SERVER_ERROR = RefusedError(500, "an error of the server; its log says where")


def refusal(refused: RefusedError, path: str) -> Response:
    message = " ".join(refused.message.split())[:LONGEST_MESSAGE]
    well_formed = message.encode(errors="replace").decode()
    answer: Response = JSONResponse({"error": well_formed}, status_code=refused.status)
    if path.startswith(LANGUAGETOOL):
        status = 400 if refused.status == 422 else refused.status
        answer = PlainTextResponse(f"Error: {well_formed}", status_code=status)
    if refused.retry_after is not None:
        answer.headers["retry-after"] = str(refused.retry_after)
    if refused.status == 401:
        answer.headers["www-authenticate"] = "Bearer"
    if refused.status in {408, 413}:  # the rest of the body may never be read
        answer.headers["connection"] = "close"
    return answer


def answer_problems(app: FastAPI) -> None:
    """All errors of the application get an answer of the one kind, and none quotes the request."""

    @app.exception_handler(RefusedError)
    async def refused(request: Request, error: RefusedError) -> Response:
        return refusal(error, request.url.path)

    @app.exception_handler(NumerateError)
    async def mendable(request: Request, error: NumerateError) -> Response:
        return refusal(RefusedError(422, str(error)), request.url.path)

    @app.exception_handler(TooLongError)
    async def too_long(request: Request, error: TooLongError) -> Response:
        return refusal(RefusedError(413, str(error)), request.url.path)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        return refusal(RefusedError(error.status_code, error.detail.lower()), request.url.path)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return refusal(RefusedError(400, "the request is not JSON"), request.url.path)
        where = ".".join(str(part)[:40] for part in first["loc"][1:]) or "the request"
        message = first["msg"].removeprefix("Value error, ")
        return refusal(RefusedError(422, f"{where}: {message}"), request.url.path)

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> Response:
        return refusal(SERVER_ERROR, request.url.path)
