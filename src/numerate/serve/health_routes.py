"""`/health` and `/metrics`: for those who look after the server, not for those who use it."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import numerate
from numerate.serve.guard import Access
from numerate.serve.metrics import MEDIA_TYPE, ServerMetrics

HEALTH, LIVE, METRICS = "/health", "/health/live", "/metrics"
STALE = "the model has changed and cannot be loaded: the one from before answers"


@dataclass
class Standing:
    """Whether what is served is what lies on the disk."""

    is_stale: bool = False


def health_routes(
    models: Sequence[str], standing: Standing, access: Access, metrics: ServerMetrics
) -> list[Route]:
    async def health(request: Request) -> Response:
        """Anybody may ask how it is; what it is, only who may ask for the rest."""
        answer: dict[str, object] = {"status": "stale" if standing.is_stale else "ok"}
        if access.is_borne(dict(request.scope["headers"])):
            answer |= {"version": numerate.__version__, "models": list(models)}
        if standing.is_stale:
            answer["message"] = STALE
        return JSONResponse(answer, status_code=503 if standing.is_stale else 200)

    async def live(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def told(_: Request) -> Response:
        return Response(metrics.written(), media_type=MEDIA_TYPE)

    return [Route(HEALTH, health), Route(LIVE, live), Route(METRICS, told)]
