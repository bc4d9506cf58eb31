"""`ServerMetrics`: what the server measures, in the format of Prometheus, and the middleware that measures requests."""

from time import perf_counter

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Upper bounds of the durations that are counted, in seconds.
BUCKETS = (
    *(0.001, 0.0015, 0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.1, 0.12),
    *(0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 30),
)

# Status of requests whose client has gone before the answer, as in the logs of nginx.
GONE = 499

# Label of requests for other paths, so that clients cannot make labels.
OTHER_PATHS = "other"


class ServerMetrics:
    """Metrics of one server, with those of its process."""

    def __init__(self):
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self.requests = Counter("bitcipher_requests", "Requests.", ["path", "status"], registry=self._registry)
        self.seconds = Histogram(
            "bitcipher_request_duration_seconds",
            "Time from the arrival of a request to the end of its answer.",
            ["path", "status"],
            buckets=BUCKETS,
            registry=self._registry,
        )
        self.running = Gauge("bitcipher_requests_in_progress", "Requests in progress.", registry=self._registry)
        self.connections = Gauge("bitcipher_connections", "Open connections.", registry=self._registry)
        self.version = Gauge("bitcipher_version", "Version of the build; 0 without a build.", registry=self._registry)
        self.words = Gauge("bitcipher_words", "Words of the table.", registry=self._registry)
        self.loads = Counter("bitcipher_version_loads", "Versions loaded.", ["result"], registry=self._registry)

    def to_text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)


class RequestMetrics:
    """ASGI middleware that counts and times requests.

    Args:
        app: the application.
        metrics: metrics of the server.
        paths: paths of the application.
    """

    def __init__(self, app: ASGIApp, metrics: ServerMetrics, paths: frozenset[str]):
        self._app, self._metrics, self._paths = app, metrics, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        path = scope["path"] if scope["path"] in self._paths else OTHER_PATHS
        status, start = GONE, perf_counter()

        async def send_and_note(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        with self._metrics.running.track_inprogress():
            try:
                await self._app(scope, receive, send_and_note)
            except Exception:
                status = 500
                raise
            finally:
                self._metrics.requests.labels(path, status).inc()
                self._metrics.seconds.labels(path, status).observe(perf_counter() - start)
