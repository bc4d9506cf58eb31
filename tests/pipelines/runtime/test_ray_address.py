"""Addresses at which no Ray cluster answers: one sentence, soon."""

import socket
import threading

import pytest

from bitcipher.errors import BitcipherError
from pipelines.runtime import ray_address
from pipelines.runtime.ray_address import check_answers


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def address_of(server) -> str:
    return "{}:{}".format(*server.getsockname())


@pytest.mark.parametrize("protocol", ["", "ray://"])
def test_closed_port_is_refused(listener, protocol):
    address = protocol + address_of(listener)
    listener.close()
    with pytest.raises(BitcipherError, match=f"Cannot reach Ray at {address} .*refused.*check RAY_ADDRESS"):
        check_answers(address)


def test_server_that_does_not_answer_is_refused(listener, monkeypatch):
    monkeypatch.setattr(ray_address, "TIMEOUT_SECONDS", 0.2)
    with pytest.raises(BitcipherError, match="no answer in time"):
        check_answers(address_of(listener))


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"\0\0\0\4"])
def test_other_server_is_refused(listener, answer):
    def serve():
        connection, _ = listener.accept()
        with connection:
            connection.recv(1000)
            connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    with pytest.raises(BitcipherError, match="another server answers there"):
        check_answers(address_of(listener))
    thread.join()


@pytest.mark.parametrize("address", ["256.0.0.1:1", "127.0.0.1:99999", "nosuch.invalid:6379"])
def test_invalid_hosts_and_ports_are_refused(address):
    with pytest.raises(BitcipherError, match=f"Cannot reach Ray at {address}"):
        check_answers(address)


@pytest.mark.parametrize("address", ["auto", "local", "garbage", "http://127.0.0.1:1"])
def test_names_are_left_to_ray(address):
    check_answers(address)


def test_running_cluster_answers(ray_cluster):
    check_answers(ray_cluster.cluster)
