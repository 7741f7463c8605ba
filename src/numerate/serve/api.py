"""The JSON API: requests in, calls of proofreading and of models, answers out."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from fastapi import FastAPI, Request, Response
from starlette.routing import Route
from starlette.types import ASGIApp

import numerate
from numerate.documents.document import Table
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.proofread.model_evidence import DetectorLike, Model
from numerate.proofread.report import Report
from numerate.serve import messages
from numerate.serve.answers import checked, predicted, proofread_text, ranked
from numerate.serve.asked_tables import AskedTables
from numerate.serve.file_messages import ReportRequest
from numerate.serve.file_routes import file_routes, report_file
from numerate.serve.guard import Access, Guard
from numerate.serve.health_routes import health_routes
from numerate.serve.languagetool.routes import languagetool
from numerate.serve.limits import Limits
from numerate.serve.metrics import ServerMetrics
from numerate.serve.opened_files import OpenedFiles
from numerate.serve.pages import page_routes
from numerate.serve.problems import RefusedError, answer_problems
from numerate.serve.workers import Workers
from numerate.text.tokenizer import iter_tokens

Result = TypeVar("Result")
PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": messages.Problem, "description": "The request cannot be answered."},
    "5XX": {"model": messages.Problem, "description": "Not in time, or an error of the server."},
}


def create_app(
    model: NumeralLM | None,
    *,
    name: str | None = None,
    detectors: Sequence[DetectorLike] = (),
    examples: Sequence[str] = (),
    tables: Sequence[Table] = (),
    limits: Limits | None = None,
    access: Access | None = None,
    metrics: ServerMetrics | None = None,
) -> ASGIApp:
    """The application; `examples` are texts to try, and `tables` are in view where a request gives
    none. Without a language model it recomputes, and asks the `detectors`, if there are any.

    """
    limits, access = limits or Limits(), access or Access()
    workers, metrics = Workers(limits), metrics or ServerMetrics()
    given = AskedTables(model, limits, tables)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        workers.close()
        metrics.close()

    app = FastAPI(
        title="numerate",
        summary="How plausible are the numbers of a text?",
        version=numerate.__version__,
        openapi_url="/v1/openapi.json",
        docs_url=None,  # would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # to whatever `Host` the request names
        lifespan=lifespan,
        responses=PROBLEMS,
    )

    tokens = (lambda text: list(iter_tokens(text))) if model is None else model.tokens

    def language_model() -> NumeralLM:
        if model is None:
            raise RefusedError(404, "no language model: expected numerate serve MODEL")
        return model

    async def compute(request: Request, function: Callable[[], Result]) -> Result:
        seconds = limits.answer_seconds(request.url.path)
        return await workers.call(request.receive, function, seconds)

    @app.get("/v1/health")
    async def health() -> messages.HealthAnswer:
        """Whether the server answers, and how busy it is."""
        return messages.HealthAnswer(status="ok", busy=workers.taken)

    @app.get("/v1/model")
    async def about() -> messages.ModelAnswer:
        """What is loaded, how much one request may ask, and texts to try."""
        return messages.ModelAnswer(
            name=name,
            strategy=None if model is None else model.name,
            members=[] if model is None else list(model.members),
            detectors=[detector.name for detector in detectors],
            sees_tables=model is not None and model.sees_tables,
            tables=[messages.TableAnswer.model_validate(table) for table in given.usual],
            limits=messages.LimitsAnswer.model_validate(limits),
            examples=list(examples),
        )

    async def check_text(
        asked: messages.CheckRequest, request: Request, asks_models: bool = True
    ) -> messages.CheckAnswer:
        limits.check([asked.text], tokens)
        given.check(asked.tables)

        def answer() -> messages.CheckAnswer:
            tables = given.read(asked.tables)
            return checked(
                model if asks_models else None,
                asked,
                tables,
                detectors=detectors if asks_models else (),
            )

        found = await compute(request, answer)
        metrics.checked(found.findings)
        return found

    @app.post("/v1/check")
    async def check(asked: messages.CheckRequest, request: Request) -> messages.CheckAnswer:
        """What is wrong with the numbers of a text, and how plausible each is where it stands."""
        return await check_text(asked, request)

    @app.post("/v1/report", response_class=Response)
    async def report(asked: ReportRequest, request: Request) -> Response:
        """The report that numerate check writes of a text."""
        limits.check([asked.text], tokens)
        given.check(asked.tables)

        def answer() -> Response:
            found, _ = proofread_text(
                model,
                asked,
                given.read(asked.tables),
                detectors=detectors,
            )
            metrics.checked(found)
            return report_file(Report([found]), asked.format)

        return await compute(request, answer)

    @app.post("/v1/predict")
    async def predict(asked: messages.PredictRequest, request: Request) -> messages.PredictAnswer:
        """The distribution over the numeral at one place of a text."""
        lm = language_model()
        limits.check([asked.text], tokens)
        given.check(asked.tables)

        def answer() -> messages.PredictAnswer:
            return predicted(lm, asked, limits.gap_tokens, given.seen(asked.tables))

        return await compute(request, answer)

    @app.post("/v1/rank")
    async def rank(asked: messages.RankRequest, request: Request) -> messages.RankAnswer:
        """Claims in the order of how probable they are."""
        lm = language_model()
        limits.check(asked.claims, tokens)
        given.check(asked.tables)
        return await compute(request, lambda: ranked(lm, asked, given.seen(asked.tables)))

    @app.post("/v1/tables")
    async def tables_of(asked: messages.TablesRequest, request: Request) -> messages.TablesAnswer:
        """The tables of a text by their cells."""
        given.check([asked.text])

        def answer() -> messages.TablesAnswer:
            return messages.TablesAnswer.model_validate({"tables": given.read([asked.text])})

        return await compute(request, answer)

    models: list[Model] = [*detectors] if model is None else [*detectors, model]
    files = OpenedFiles(models, given.usual, limits)
    routers = [languagetool(check_text), file_routes(files, compute, metrics)]
    for router in routers:
        app.include_router(router)
    answer_problems(app)
    names = dict.fromkeys(str(one) for one in (name, *(one.name for one in detectors)) if one)
    app.router.routes.extend(page_routes() + health_routes(list(names), access, metrics))
    routes = [*app.routes, *(route for router in routers for route in router.routes)]
    paths = {route.path for route in routes if isinstance(route, Route)}
    return Guard(app, limits, access, paths, metrics)
