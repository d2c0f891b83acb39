"""The application: REST under /api, the page under /app, one login for both."""

import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastapi import APIRouter, FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse
from fastapi.telemetry import TelemetryConfig

from annotator import auth, exception_handlers, source_offer
from annotator.change_streams import ChangeStreams
from annotator.front_end_files import FrontEnd, Revalidated
from annotator.gradio.mount import mount_page
from annotator.gradio.session_owner import SessionOwner
from annotator.health_checks import Checkup
from annotator.in_process_workers import InProcessWorkers
from annotator.json_gate import JsonGate
from annotator.login_gate import LoginGate
from annotator.login_queue import LoginQueue
from annotator.passed_on import PassedOn
from annotator.reference import document as described
from annotator.request_guard import RequestGuard
from annotator.request_trail import RequestTrail, RouteNote
from annotator.root_path import RootPath
from annotator.routes import (
    annotations,
    changes,
    documents,
    exports,
    extract,
    fields,
    figures,
    form,
    imports,
    learning,
    me,
    members,
    metrics,
    pages,
    predictions,
    projects,
    proposers,
    questions,
    quotas,
    removal,
    removed_documents,
    removed_projects,
    removed_questions,
    reviews,
    saving,
    second_factor,
    selection,
    snapshots,
    system,
    tasks,
    transfers,
    users,
    values,
    webhooks,
)
from annotator.ui.page import build_page
from db.startup_lock import wait_for_turn
from engine import tracing
from engine.accounts.users import local_user
from engine.annotation.answer_service import AnswerService
from engine.documents.reading.forked_readers import FORKS
from engine.extraction.callbacks import CallbackLoop
from engine.lifecycle.gauges import watch
from engine.metrics import HERE, Gatherer
from engine.models import registry
from engine.projects.projects import ensure_default
from engine.settings import Settings
from engine.web_process import web_process_here
from engine.workspace import open_workspace

_log = logging.getLogger(__name__)
# Of what FastAPI sends by OpenTelemetry: metrics are those of Prometheus, and logs are files.
_NO_OTHER: TelemetryConfig = {"metrics": False, "logs": False, "operation_spans": False, "auto_configure": False}


def create_served_app() -> FastAPI:
    """Build the application of a server process; uvicorn calls this as its factory.

    As soon as it serves, a thread imports what networks need. Questions of the meantime wait for it.
    """
    FORKS.enable()
    return create_app(import_networks=True, gatherer=HERE)


def create_app(
    settings: Settings | None = None,
    *,
    with_page: bool = True,
    import_networks: bool = False,
    gatherer: Gatherer | None = None,
) -> FastAPI:
    """Build the application.

    Migrates the database, registers the shipped model, and creates the local user and the default project. So loading
    the page never writes.

    Args:
        settings: settings of the deployment; None reads them from the environment.
        with_page: whether the page is served beside REST; it takes most of the time of building.
        import_networks: whether a thread imports what networks need at the start, in place of the first question.
        gatherer: of the metrics of this process; None: a new one.

    Returns:
        The application with REST routes, middleware, and the page if wanted.
    """
    settings = settings or Settings()
    workspace = open_workspace(settings)
    registry.ensure_shipped(workspace)
    with workspace.database.write() as session:
        wait_for_turn(session.connection())
        local = local_user(session)
        ensure_default(session, settings, local.id)
    service, workers = AnswerService(workspace), InProcessWorkers(workspace)
    streams = ChangeStreams(workspace, most=settings.max_connections // 2)
    app = FastAPI(
        title="Glossator",
        version=source_offer.version(),
        docs_url=None,  # FastAPI's own page loads scripts from a network; see annotator.reference.page
        openapi_url="/api/openapi.json",
        redoc_url=None,
        lifespan=_following(service, workers, streams, import_networks),
        telemetry={"tracer_provider": tracing.provider(), "tracing": tracing.provider() is not None, **_NO_OTHER},
    )
    app.state.answer_service, app.state.in_process_workers, app.state.change_streams = service, workers, streams
    app.state.checkup = Checkup(workspace, service.predictors)
    app.state.login_queue = LoginQueue()
    app.state.gatherer = watch(workspace, gatherer or Gatherer(), service.predictors)
    app.add_middleware(RouteNote)  # type: ignore[arg-type]  # what is added first is next to the routes
    exception_handlers.install(app)
    api = APIRouter(prefix="/api")
    for part in (
        saving,  # first: the most frequent request is matched first
        system,
        metrics,
        changes,
        projects,
        documents,
        pages,
        annotations,
        removal,
        form,
        extract,
        predictions,
        learning,
        exports,
        snapshots,
        imports,
        figures,
        me,
        second_factor,
        users,
        members,
        questions,
        fields,
        values,
        removed_documents,
        removed_projects,
        removed_questions,
        transfers,
        webhooks,
        proposers,
        quotas,
        tasks,
        reviews,
        selection,
    ):
        api.include_router(part.router)
    app.include_router(api)
    described.install(app, settings.root_path)
    app.include_router(auth.router(workspace, app.state.login_queue))
    app.include_router(source_offer.router(settings))
    app.mount("/source/weights", Revalidated(directory=source_offer.weights()), name="weights")
    app.mount("/static", FrontEnd(), name="static")
    if with_page:
        mount_page(app, build_page(service), workspace)
    process = web_process_here()
    if process is not None:
        app.add_middleware(SessionOwner, process=process)  # type: ignore[arg-type]
    app.add_middleware(JsonGate)  # type: ignore[arg-type]
    app.add_middleware(LoginGate, workspace=workspace, local=local)  # type: ignore[arg-type]
    app.add_middleware(RequestGuard, settings=settings)  # type: ignore[arg-type]
    if settings.root_path:
        app.add_middleware(RootPath, root=settings.root_path)  # type: ignore[arg-type]
    app.add_middleware(RequestTrail, settings=settings)  # type: ignore[arg-type]
    if process is not None:
        app.add_middleware(PassedOn, secret=process.secret)  # type: ignore[arg-type]

    @app.get("/favicon.ico", include_in_schema=False)
    def favicon() -> RedirectResponse:
        return RedirectResponse("/static/icon.svg", status_code=301)

    if with_page:

        @app.get("/", include_in_schema=False)
        def home() -> RedirectResponse:
            return RedirectResponse("/app/")

    return app


def _following(
    service: AnswerService, workers: InProcessWorkers, streams: ChangeStreams, import_networks: bool
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Return a lifespan that follows promotions in a thread, runs its in-process workers, and ends its streams."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        ended = threading.Event()

        def follow() -> None:
            while not ended.wait(service.workspace.settings.poll_seconds):
                try:
                    service.predictors.refresh()
                except Exception:
                    _log.exception("looking for a new model failed; trying again")

        thread = threading.Thread(target=follow, name="follow-promotions", daemon=True)
        thread.start()
        if import_networks:
            threading.Thread(target=service.predictors.import_networks, name="import-networks", daemon=True).start()
        workers.start()
        callbacks = CallbackLoop(service)
        callbacks.start()
        yield
        ended.set()
        await run_in_threadpool(callbacks.stop)
        await run_in_threadpool(streams.stop)
        await run_in_threadpool(workers.stop)
        thread.join(timeout=5)
        service.workspace.close()

    return lifespan
