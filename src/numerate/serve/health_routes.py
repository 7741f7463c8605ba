"""`/health` and `/metrics`: for those who look after the server, not for those who use it."""

from collections.abc import Sequence
from datetime import datetime

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import numerate
from numerate.serve.guard import Access
from numerate.serve.metrics import MEDIA_TYPE, ServerMetrics

HEALTH, LIVE, METRICS = "/health", "/health/live", "/metrics"


def health_routes(models: Sequence[str], access: Access, metrics: ServerMetrics) -> list[Route]:
    """Return the routes; they answer once the models are open."""
    since = datetime.now().astimezone().isoformat(timespec="seconds")

    async def health(request: Request) -> Response:
        """Anybody may ask how the server is; what it is, only who may ask for the rest."""
        answer: dict[str, object] = {"status": "ok"}
        if access.is_borne(dict(request.scope["headers"])):
            answer |= {"version": numerate.__version__, "models": list(models), "since": since}
        return JSONResponse(answer)

    async def live(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def counted(_: Request) -> Response:
        return Response(metrics.written(), media_type=MEDIA_TYPE)

    return [Route(HEALTH, health), Route(LIVE, live), Route(METRICS, counted)]
