"""The paths of LanguageTool's protocol, answered by the check of the API."""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Request

from numerate.serve.languagetool.asked import read_asked
from numerate.serve.languagetool.languages import LANGUAGES, USUAL
from numerate.serve.languagetool.matches import answer_of
from numerate.serve.messages import CheckAnswer, CheckRequest
from numerate.serve.problems import LANGUAGETOOL

Check = Callable[[CheckRequest, Request, bool], Awaitable[CheckAnswer]]
"""That of the API; the last argument says whether models are asked."""


def languagetool(check: Check) -> APIRouter:
    """LanguageTool describes them: they are no part of our own description."""
    router = APIRouter(prefix=LANGUAGETOOL.rstrip("/"), include_in_schema=False)

    @router.get("/languages")
    async def languages() -> list[dict[str, str]]:
        return [{"name": one.name, "code": one.code, "longCode": one.tag} for one in LANGUAGES]

    @router.api_route("/check", methods=["GET", "POST"])
    async def matches(request: Request) -> dict[str, Any]:
        """What no model knows, another language, is for the rules alone."""
        asked = await read_asked(request)
        if asked.is_repeated:
            return answer_of(asked, None)
        asks_models = asked.language.code == USUAL.code
        return answer_of(asked, await check(asked.check, request, asks_models))

    return router
