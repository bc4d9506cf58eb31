"""The web application: its paths, and the threads that answer them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import orjson
from fastapi import FastAPI, Query, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.types import ASGIApp, Receive, Scope, Send

from bitcipher import __version__
from bitcipher.errors import BitcipherError
from bitcipher.files.records import Record
from cluster.serve import answers, page
from cluster.serve.access import ANY_REQUEST, AccessControl, AccessRules
from cluster.serve.error_answers import add_error_answers
from cluster.serve.request_body import RequestBodies
from cluster.serve.request_pool import RequestPool
from cluster.serve.request_records import EncodeRequest, ExplainRequest, NeighborsRequest, VectorsRequest
from cluster.serve.served_version import ServedVersion
from cluster.serve.server_metrics import RequestMetrics, ServerMetrics

VERSION_HEADER = "Bitcipher-Version"

RECORDS: dict[str, type[Record]] = {
    "/neighbors": NeighborsRequest,
    "/vectors": VectorsRequest,
    "/explain": ExplainRequest,
    "/encode": EncodeRequest,
}
PATHS = frozenset({*RECORDS, *page.PATHS, "/health", "/metrics", "/openapi.json"})

# Searches of one batch and of the next one. With more, batches are larger and so a little cheaper, but under overload,
# 1 of 100 requests would take more than twice as long as with 16 clients.
MAX_SEARCHES = 28


def make_pools() -> dict[str, RequestPool]:
    """Return the threads that answer requests, by path.

    Their limits keep the times of answers under overload close to those on a busy server.
    """
    return {
        "/neighbors": RequestPool("neighbors", MAX_SEARCHES, wait_seconds=0, max_waiting=0, answer_seconds=30),
        "/vectors": RequestPool("vectors", 1, wait_seconds=0.03, max_waiting=20, answer_seconds=30),
        # The encoder is not made for several threads.
        "/encode": RequestPool("embeddings", 1, wait_seconds=1, max_waiting=20, answer_seconds=60),
        # An explanation reads the counts of the build, which takes seconds and much memory.
        "/explain": RequestPool("explanations", 1, wait_seconds=60, max_waiting=8, answer_seconds=300),
    }


def make_app(
    current: Callable[[], ServedVersion], metrics: ServerMetrics, access: AccessRules = ANY_REQUEST
) -> FastAPI:
    """Return the web application.

    Args:
        current: function that returns the version to serve. Each request is answered by one version, which is freed
            after its last request.
        metrics: metrics of the server.
        access: which requests are answered.
    """
    # The interactive pages of FastAPI load scripts from the network.
    app = FastAPI(title="bitcipher", version=__version__, docs_url=None, redoc_url=None)
    pools = make_pools()

    async def answer(path: str, function: Callable[..., dict[str, Any]], request: Record) -> Response:
        served = current()
        try:
            content = await pools[path].run(_to_json, function, served, request)
        except BitcipherError:
            if current() is served:
                raise
            # A newer version has come, so the files of this one may have been removed.
            served = current()
            content = await pools[path].run(_to_json, function, served, request)
        return _to_response(served, content)

    @app.get("/neighbors")
    async def neighbors(request: Annotated[NeighborsRequest, Query()]) -> Response:
        """Words with the highest cosine similarity to each given word, or to sums of words."""
        served, query = current(), answers.neighbor_query(request)
        if request.case_insensitive and not served.has_variants:
            await asyncio.to_thread(served.prepare_variants)
        # One search per word: those of a request share a batch, and those that its client no longer needs are canceled.
        searches = [(served.find_neighbors, word, query) for word in request.word]
        return _to_response(served, orjson.dumps({"queries": await pools["/neighbors"].gather(searches)}))

    @app.post("/vectors")
    async def vectors(request: VectorsRequest) -> Response:
        """Vectors of words. Those of unknown words are made from their character n-grams, and say so."""
        return await answer("/vectors", answers.look_up_vectors, request)

    @app.get("/explain")
    async def explain(request: Annotated[ExplainRequest, Query()]) -> Response:
        """Contributions of context words and n-grams to a vector, or to the similarity of two words."""
        return await answer("/explain", answers.explain_word, request)

    @app.post("/encode")
    async def encode(request: EncodeRequest) -> Response:
        """Embeddings of sentences: weighted means of the vectors of their words, of length 1."""
        return await answer("/encode", answers.encode_texts, request)

    @app.get("/health")
    async def health() -> Response:
        """Version that is served, and the size of its table."""
        served = current()
        return _to_response(served, _to_json(answers.describe_version, served))

    @app.get("/metrics", include_in_schema=False)
    async def show_metrics() -> Response:
        """Metrics in Prometheus' text format."""
        return Response(metrics.to_text(), media_type=CONTENT_TYPE_LATEST)

    page.add_page(app)
    add_error_answers(app, RECORDS)
    app.add_middleware(PoolChoice, pools=pools, step=RequestPool.answer)
    app.add_middleware(RequestBodies)
    # Before anything of a request is read, so that a refusal takes little time.
    app.add_middleware(PoolChoice, pools=pools, step=RequestPool.refuse)
    app.add_middleware(AccessControl, access=access)
    app.add_middleware(RequestMetrics, metrics=metrics, paths=PATHS)
    return app


class PoolChoice:
    """ASGI middleware that lets the pool of a path take a step of answering a request.

    Args:
        app: the application.
        pools: pools by path.
        step: method of a pool.
    """

    def __init__(self, app: ASGIApp, pools: dict[str, RequestPool], step: Callable[..., Awaitable[None]]):
        self._app, self._pools, self._step = app, pools, step

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        pool = self._pools.get(scope["path"]) if scope["type"] == "http" else None
        if pool is None:
            return await self._app(scope, receive, send)
        await self._step(pool, self._app, scope, receive, send)


def _to_json(function: Callable[..., dict[str, Any]], *arguments: Any) -> bytes:
    return orjson.dumps(function(*arguments), option=orjson.OPT_SERIALIZE_NUMPY)


def _to_response(served: ServedVersion, content: bytes) -> Response:
    """Return an answer in JSON that names the version that made it."""
    version = served.location.version
    headers = {} if version is None else {VERSION_HEADER: str(version)}
    return Response(content, headers=headers, media_type="application/json")
