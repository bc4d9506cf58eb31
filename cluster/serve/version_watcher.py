"""`VersionWatcher`: the version that is served, and the thread that replaces it by a newer one."""

from threading import Event, Thread

from bitcipher.errors import first_line
from bitcipher.terminal import print_text
from cluster.serve.search_queue import SearchQueue
from cluster.serve.served_version import ServedVersion, keep_out_of_collections, locate_vectors, return_memory
from cluster.serve.server_metrics import ServerMetrics

# After a failure, the time until the next look doubles up to this number of seconds, because a look can read the whole
# table.
MAX_SECONDS = 600.0

CLOSE_SECONDS = 2.0


class VersionWatcher:
    """The version that is served. It is replaced only by a version that is loaded and checked.

    Args:
        uri: a build, or a folder or file of vectors.
        version: version of the build to serve; by default the newest one, and then those that are published.
        check_seconds: seconds between looks for a new version.
        queue: the queue of searches.
        metrics: metrics of the server.
        explain_index: folder for the indices of explanations, or None.

    Raises:
        BitcipherError: if there are no such vectors, or they are damaged.
    """

    def __init__(
        self,
        uri: str,
        version: int | None,
        check_seconds: float,
        queue: SearchQueue,
        metrics: ServerMetrics,
        explain_index: str | None = None,
    ):
        self._uri, self._queue, self._metrics, self._explain_index = uri, queue, metrics, explain_index
        self._check_seconds = self._wait_seconds = check_seconds
        self._problem = ""
        self._has_replaced = False
        self._stop = Event()
        self._set(ServedVersion(uri, locate_vectors(uri, version), queue, explain_index))
        self._thread: Thread | None = None
        if version is None and self.current.location.published is not None:
            self._thread = Thread(target=self._run, name="versions", daemon=True)
            self._thread.start()

    def check(self) -> None:
        """Serve the newest version if its vectors are others. If it cannot be loaded, the present one stays."""
        if self._has_replaced:
            # Requests that were in progress at the switch kept the old version until now.
            self._has_replaced = False
            keep_out_of_collections()
            return_memory()
        try:
            location = locate_vectors(self._uri)
            if location.uri != self.current.location.uri:
                served = ServedVersion(self._uri, location, self._queue, self._explain_index)
                served.warm_up(self.current)
                self._set(served)
                del served
                self._has_replaced = True
                print_text(f"Serving version {location.version} now: {len(self.current.vectors):,} words.")
            self._wait_seconds, self._problem = self._check_seconds, ""
        except Exception as error:  # whatever it is, the present version stays
            self._metrics.loads.labels("failed").inc()
            self._wait_seconds = min(2 * self._wait_seconds, max(MAX_SECONDS, self._check_seconds))
            problem = first_line(error)
            if problem != self._problem:
                print_text(f"bitcipher: the newest version is not served, but the one before: {problem}.", err=True)
            self._problem = problem
            error.__traceback__ = None  # its frames hold what was loaded
            return_memory()

    def close(self) -> None:
        """End the thread. A version that it loads is given up when the process ends."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)

    def _set(self, served: ServedVersion) -> None:
        self.current = served
        self._metrics.version.set(served.location.version or 0)
        self._metrics.words.set(len(served.vectors))
        self._metrics.loads.labels("ok").inc()
        del served
        keep_out_of_collections()
        return_memory()

    def _run(self) -> None:
        while not self._stop.wait(self._wait_seconds):
            self.check()
