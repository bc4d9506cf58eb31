"""Requests that would wait for too long are refused at once, and the work for clients that have gone is left."""

import asyncio
import http.client
import json
import select
import threading
import time
from concurrent.futures import Future

import pytest
from fastapi import FastAPI, Response
from served_builds import make_client, send, serving

from cluster.serve.app import PoolChoice
from cluster.serve.request_pool import RequestPool


class SlowCalls:
    """An application with a pool, whose calls end when they are released."""

    def __init__(self, pool):
        self.pool = pool
        self.started = []
        self.release = threading.Semaphore(0)

    def call(self, number):
        self.started.append(number)
        assert self.release.acquire(timeout=60)
        return number

    def make_app(self):
        app = FastAPI()

        @app.get("/slow")
        async def slow(number: int) -> Response:
            return Response(json.dumps(await self.pool.run(self.call, number)))

        @app.get("/quick")
        async def quick() -> Response:
            return Response("0")

        pools = {"/slow": self.pool}
        app.add_middleware(PoolChoice, pools=pools, step=RequestPool.answer)
        app.add_middleware(PoolChoice, pools=pools, step=RequestPool.refuse)
        return app


def make_pool(wait_seconds=60, max_waiting=100, answer_seconds=60):
    return RequestPool("numbers", 2, wait_seconds, max_waiting, answer_seconds)


def ask(port, number):
    return send(port, b"GET /slow?number=%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % number)


def answer_of(connection):
    response = http.client.HTTPResponse(connection)
    response.begin()
    return response.status, response.read().decode(), response.headers.get("Retry-After")


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_work_for_clients_that_have_gone_is_left():
    calls = SlowCalls(make_pool(max_waiting=1000))
    with serving(calls.make_app(), limit=1000) as port:
        gone = [ask(port, number) for number in range(400)]
        wait_until(lambda: len(calls.started) == 2 and calls.pool._requests == 400)
        for connection in gone:
            connection.close()
        wait_until(lambda: calls.pool._requests == 0)
        with ask(port, 1000) as last:
            calls.release.release(3)
            assert answer_of(last)[:2] == (200, "1000")
        assert calls.started[2:] == [1000]


def test_too_many_requests_are_refused_at_once_and_others_are_answered():
    calls = SlowCalls(make_pool(max_waiting=1))
    with serving(calls.make_app()) as port:
        asked = [ask(port, number) for number in range(3)]
        wait_until(lambda: calls.pool._requests == 3)
        with ask(port, 3) as refused:
            status, content, retry = answer_of(refused)
            assert (status, retry) == (503, "1")
            assert "too many requests for numbers" in json.loads(content)["error"]
            # This connection is read again after a pause.
            refused.sendall(b"GET /quick HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert answer_of(refused)[0] == 200
        calls.release.release(3)
        assert [answer_of(each)[:2] for each in asked] == [(200, "0"), (200, "1"), (200, "2")]
        for each in asked:
            each.close()


def test_requests_are_refused_whose_bodies_arrive_at_the_same_time(served_build, queue, monkeypatch):
    release = threading.Event()

    def encode(served, request):
        assert release.wait(60)
        return {"embeddings": []}

    monkeypatch.setattr("cluster.serve.answers.encode_texts", encode)
    body = b'{"texts": ["w1"]}'
    head = b"POST /encode HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with serving(make_client(served_build, queue).app) as port:
        asked = [send(port, head + b"Content-Length: %d\r\n\r\n{" % len(body)) for _ in range(40)]
        with send(port, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n") as last:
            assert answer_of(last)[0] == 200  # all heads have been read
        for each in asked:
            each.sendall(body[1:])
        wait_until(lambda: len(select.select(asked, [], [], 0)[0]) >= 40 - 21)
        time.sleep(0.5)  # more answers than these would arrive now
        refused = select.select(asked, [], [], 0)[0]
        release.set()
        statuses = [answer_of(each)[0] for each in asked]
        for each in asked:
            each.close()
        assert len(refused) == statuses.count(503) == 40 - 21
        assert statuses.count(200) == 21


def test_refusal_follows_from_the_time_of_earlier_calls():
    calls = SlowCalls(make_pool(wait_seconds=0.01))
    with serving(calls.make_app()) as port:
        with ask(port, 0) as first:
            time.sleep(0.2)
            calls.release.release()
            assert answer_of(first)[0] == 200
        asked = [ask(port, number) for number in (1, 2, 3)]
        wait_until(lambda: calls.pool._requests == 3)
        with ask(port, 4) as refused:  # would wait for 0.1 s
            assert answer_of(refused)[0] == 503
        calls.release.release(3)
        for each in asked:
            assert answer_of(each)[0] == 200
            each.close()


def test_answer_that_takes_too_long_is_given_up():
    calls = SlowCalls(make_pool(answer_seconds=0.2))
    with serving(calls.make_app()) as port:
        with ask(port, 0) as late:
            status, content, _ = answer_of(late)
        assert (status, "not ready in" in content) == (503, True)
        calls.release.release(2)
        with ask(port, 1) as next_one:
            assert answer_of(next_one)[:2] == (200, "1")


def test_end_of_the_server_ends_calls_with_an_answer(monkeypatch, caplog):
    monkeypatch.setattr("cluster.serve.server.GRACE_SECONDS", 1)
    calls = SlowCalls(make_pool())
    with serving(calls.make_app()) as port:
        asked = ask(port, 0)
        wait_until(lambda: calls.started)
    status, content, _ = answer_of(asked)
    asked.close()
    calls.release.release()
    assert (status, "The server ends" in content) == (503, True)
    assert "Traceback" not in caplog.text


def test_call_that_cannot_begin_takes_no_place():
    pool = make_pool()

    def fail():
        raise RuntimeError("can't start new thread")

    async def run():
        for _ in range(3):
            with pytest.raises(RuntimeError, match="new thread"):
                await pool.gather([(fail,)])
        return await pool.run(str, 1)

    assert asyncio.run(asyncio.wait_for(run(), 20)) == "1"
    assert pool._calls == 0
    assert pool._has_room()


def test_calls_of_a_request_are_left_after_an_error():
    futures = [Future() for _ in range(3)]
    pool = make_pool()

    async def run():
        task = asyncio.create_task(pool.gather([(lambda future=future: future,) for future in futures]))
        await asyncio.sleep(0.05)
        futures[0].set_exception(KeyError("first"))
        return await asyncio.gather(task, return_exceptions=True)

    (error,) = asyncio.run(run())
    assert repr(error) == repr(KeyError("first"))
    assert futures[1].cancelled()
    assert futures[2].cancelled()
