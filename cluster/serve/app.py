"""The web application: its paths, and the threads that answer them."""

from collections.abc import Callable
from typing import Annotated, Any

import orjson
from fastapi import FastAPI, Query, Response
from prometheus_client import CONTENT_TYPE_LATEST

from bitcipher import __version__
from bitcipher.records import Record
from cluster.serve import answers, page
from cluster.serve.error_answers import BodyLimit, add_error_answers
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

# Neighbors wait for their batch in a thread each, so the number of threads bounds the size of batches.
LOOKUP_THREADS = 32
MAX_LOOKUPS = 1024
MAX_ENCODINGS = 64
# An explanation reads the counts of the build, which takes seconds.
MAX_EXPLANATIONS = 8


def make_app(current: Callable[[], ServedVersion], metrics: ServerMetrics) -> FastAPI:
    """Return the web application.

    Args:
        current: function that returns the version to serve. Each request calls it once, so it is answered by one
            version, which is freed after its last request.
        metrics: metrics of the server.
    """
    # The interactive pages of FastAPI load scripts from the network.
    app = FastAPI(title="bitcipher", version=__version__, docs_url=None, redoc_url=None)
    lookups = RequestPool("neighbors and vectors", LOOKUP_THREADS, MAX_LOOKUPS)
    # One thread each: the encoder is not made for several, and explanations need much memory.
    encodings = RequestPool("embeddings", 1, MAX_ENCODINGS)
    explanations = RequestPool("explanations", 1, MAX_EXPLANATIONS)

    async def answer(pool: RequestPool, function: Callable[..., dict[str, Any]], request: Record) -> Response:
        served = current()
        content = await pool.run(_to_json, function, served, request)
        return Response(content, headers=_version_header(served), media_type="application/json")

    @app.get("/neighbors")
    async def neighbors(request: Annotated[NeighborsRequest, Query()]) -> Response:
        """Words with the highest cosine similarity to each given word, or to sums of words."""
        return await answer(lookups, answers.find_neighbors, request)

    @app.post("/vectors")
    async def vectors(request: VectorsRequest) -> Response:
        """Vectors of words. Those of unknown words are made from their character n-grams, and say so."""
        return await answer(lookups, answers.look_up_vectors, request)

    @app.get("/explain")
    async def explain(request: Annotated[ExplainRequest, Query()]) -> Response:
        """Contributions of context words and n-grams to a vector, or to the similarity of two words."""
        return await answer(explanations, answers.explain_word, request)

    @app.post("/encode")
    async def encode(request: EncodeRequest) -> Response:
        """Embeddings of sentences: weighted means of the vectors of their words, of length 1."""
        return await answer(encodings, answers.encode_texts, request)

    @app.get("/health")
    async def health() -> Response:
        """Version that is served, and the size of its table."""
        served = current()
        content = orjson.dumps(answers.describe_version(served))
        return Response(content, headers=_version_header(served), media_type="application/json")

    @app.get("/metrics", include_in_schema=False)
    async def show_metrics() -> Response:
        """Metrics in Prometheus' text format."""
        return Response(metrics.to_text(), media_type=CONTENT_TYPE_LATEST)

    page.add_page(app)
    add_error_answers(app, RECORDS)
    app.add_middleware(BodyLimit)
    app.add_middleware(RequestMetrics, metrics=metrics, paths=PATHS)
    return app


def _to_json(function: Callable[..., dict[str, Any]], served: ServedVersion, request: Record) -> bytes:
    return orjson.dumps(function(served, request), option=orjson.OPT_SERIALIZE_NUMPY)


def _version_header(served: ServedVersion) -> dict[str, str]:
    version = served.location.version
    return {} if version is None else {VERSION_HEADER: str(version)}
