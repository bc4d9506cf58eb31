"""`RequestPool`: threads for one kind of request, with a bound on the time that requests wait for them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from time import perf_counter
from typing import Any, TypeVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cluster.serve.error_answers import RETRY_SECONDS, answer_error

Answer = TypeVar("Answer")

# Key of the state of a request that was refused, and whose connection should be read later.
IS_REFUSED = "is_refused"

# Weight of the newest call in the mean duration of calls.
NEWEST_WEIGHT = 0.1


class RequestPool:
    """Threads for one kind of request. All methods are called in the thread of the event loop.

    A request that would begin too late is refused at once, so waiting does not grow with the load. The time until it
    begins is predicted from the number of calls before it and the mean duration of calls.

    Args:
        kind: name of the requests, for error messages.
        max_running: maximum number of calls in progress, and the number of threads.
        wait_seconds: maximum time that a request is predicted to wait.
        max_waiting: maximum number of calls that wait.
        answer_seconds: time limit of a request, with its wait.
    """

    def __init__(self, kind: str, max_running: int, wait_seconds: float, max_waiting: int, answer_seconds: float):
        self._kind, self._max_running, self._answer_seconds = kind, max_running, answer_seconds
        self._wait_seconds, self._max_waiting = wait_seconds, max_waiting
        self._executor = ThreadPoolExecutor(max_running, thread_name_prefix=kind)
        self._free = asyncio.Semaphore(max_running)
        self._requests = self._calls = 0
        self._mean_seconds = 0.0

    async def refuse(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request that would wait for too long, and let an application answer others."""
        if not self._has_room():
            scope["state"][IS_REFUSED] = True
            app = _answer_unavailable(f"The server has too many requests for {self._kind}: try again later.")
        await app(scope, receive, send)

    async def answer(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Let an application answer a request, unless others have taken the room while its body arrived.

        The application is canceled if the client goes, and at the time limit, so that nothing waits for a thread in
        vain. A call that a thread has begun is not stopped.

        Args:
            app: the application, which calls `run`.
            scope: the request.
            receive: function that returns the body in one piece, and then waits until the client goes.
            send: function that sends the parts of the answer.
        """
        if not self._has_room():
            return await self.refuse(app, scope, receive, send)
        body, is_answered = await receive(), False

        async def send_and_note(message: Message) -> None:
            nonlocal is_answered
            is_answered = True
            await send(message)

        async def wait_for_end() -> bool:
            await receive()  # also returns at the end of the answer
            return not is_answered

        problem = None
        self._requests += 1
        try:
            async with asyncio.timeout(self._answer_seconds), _canceled_after(wait_for_end()):
                await app(scope, _returning(body), send_and_note)
        except TimeoutError:
            problem = f"The answer was not ready in {self._answer_seconds:.0f} seconds: try again later."
        except asyncio.CancelledError:
            problem = "The server ends: try again later."
        finally:
            self._requests -= 1
        if problem and not is_answered:
            await _answer_unavailable(problem)(scope, receive, send)

    async def run(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """Return the result of a function, which runs in a thread of the pool."""
        return await self._wait_for(self._executor.submit, function, *arguments)

    async def gather(self, calls: Sequence[tuple[Callable[..., Future[Answer]], *tuple[Any, ...]]]) -> list[Answer]:
        """Return the results of calls that other threads answer.

        Args:
            calls: functions that return a future, each with its arguments.
        """
        tasks = [asyncio.ensure_future(self._wait_for(*call)) for call in calls]
        try:
            return [await task for task in tasks]
        finally:  # after an error of one call, the others are of no use
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _wait_for(self, submit: Callable[..., Future[Any]], *arguments: Any) -> Any:
        self._calls += 1
        try:
            await self._free.acquire()
        except BaseException:
            self._calls -= 1
            raise
        loop, start = asyncio.get_running_loop(), perf_counter()
        try:
            future = submit(*arguments)
        except BaseException:  # such as too many threads
            self._calls -= 1
            self._free.release()
            raise

        def free(_: Future[Any]) -> None:
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(self._finish, perf_counter() - start)

        # A call that has begun takes its place until it ends, even if the client goes before.
        future.add_done_callback(free)
        return await asyncio.wrap_future(future)

    def _finish(self, seconds: float) -> None:
        self._calls -= 1
        self._free.release()
        weight = NEWEST_WEIGHT if self._mean_seconds else 1
        self._mean_seconds += weight * (seconds - self._mean_seconds)

    def _has_room(self) -> bool:
        waiting = max(self._requests, self._calls) - self._max_running
        is_short = waiting * self._mean_seconds <= self._wait_seconds * self._max_running
        return waiting < 0 or (waiting < self._max_waiting and is_short)


@asynccontextmanager
async def _canceled_after(event: Coroutine[Any, Any, bool]) -> AsyncIterator[None]:
    """Leave the `with` block as soon as an event ends, if its result is true."""
    task = asyncio.current_task()
    assert task

    def cancel(ended: asyncio.Task[bool]) -> None:
        if not ended.cancelled() and ended.result():
            task.cancel()

    watcher = asyncio.create_task(event)
    watcher.add_done_callback(cancel)
    try:
        yield
    except asyncio.CancelledError:
        if not watcher.done() or not watcher.result():
            raise
        task.uncancel()
    finally:
        watcher.remove_done_callback(cancel)
        watcher.cancel()


def _returning(message: Message) -> Receive:
    """Return a function that returns one message."""

    async def receive() -> Message:
        return message

    return receive


def _answer_unavailable(sentence: str) -> ASGIApp:
    return answer_error(HTTPStatus.SERVICE_UNAVAILABLE, sentence, {"Retry-After": RETRY_SECONDS})
