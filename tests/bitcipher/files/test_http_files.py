import gzip
import io
import socket
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from web_server import WebServer

from bitcipher.errors import BitcipherError
from bitcipher.files import http_connection, http_files, parquet_files, storage
from bitcipher.files.http_files import OVERLAP_BYTES
from bitcipher.redaction import redact

CONTENT = np.random.default_rng(3).bytes(300_000)
REAL_RESOLVER = socket.getaddrinfo


@pytest.fixture
def web(monkeypatch):
    monkeypatch.setattr(http_files, "FIRST_WAIT_SECONDS", 0.001)
    with WebServer() as server:
        server.files["/a.bin"] = CONTENT
        yield server


@pytest.fixture
def public_names(monkeypatch):
    """Resolve names of example.org to given addresses, and treat the address of the server as public."""
    names = {"public.example.org": "127.0.0.1"}

    def resolve(host, *arguments, **settings):
        return REAL_RESOLVER(names.get(host, host), *arguments, **settings)

    original = http_connection.is_public
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(http_connection, "is_public", lambda address: address == "127.0.0.1" or original(address))
    return names


def read(uri):
    with storage.reading(uri) as stream:
        return stream.read()


class TestReading:
    def test_whole_file(self, web):
        assert read(f"{web.address}/a.bin") == CONTENT
        assert storage.read_bytes(f"{web.address}/a.bin") == CONTENT

    def test_positions_can_be_set(self, web):
        with storage.reading(f"{web.address}/a.bin") as stream:
            assert stream.seek(-100, io.SEEK_END) == len(CONTENT) - 100
            assert stream.read() == CONTENT[-100:]
            stream.seek(7)
            assert stream.read(10) == CONTENT[7:17]
            assert stream.tell() == 17

    def test_parquet(self, web):
        table = pa.table({"text": ["a", "b"] * 1000})
        pq.write_table(table, sink := io.BytesIO(), row_group_size=500)
        web.files["/a.parquet"] = sink.getvalue()
        assert parquet_files.read_table(f"{web.address}/a.parquet") == table

    def test_empty_file_and_size(self, web):
        web.files["/empty"] = b""
        assert read(f"{web.address}/empty") == b""
        filesystem, path = storage.url_to_fs(f"{web.address}/empty")
        assert filesystem.info(path)["size"] == 0
        assert storage.list_files(f"{web.address}/a.bin") == {".": len(CONTENT)}

    def test_names_are_quoted(self, web):
        web.files["/caf%C3%A9%201.txt"] = b"x"
        assert read(f"{web.address}/café%201.txt") == b"x"

    def test_missing_file(self, web):
        assert not storage.exists(f"{web.address}/gone")
        assert storage.read_bytes(f"{web.address}/gone") is None
        with pytest.raises(BitcipherError, match=r"There is no file http://.*/gone\.$"):
            read(f"{web.address}/gone")

    def test_writing_raises(self, web):
        with pytest.raises(BitcipherError, match="read-only"), storage.writing(f"{web.address}/b.bin"):
            pass


class TestInterruptions:
    def test_download_resumes_at_the_next_byte(self, web):
        web.cut_after = [100_000, 0, OVERLAP_BYTES + 50_000]
        assert read(f"{web.address}/a.bin") == CONTENT
        ranges = [headers.get("Range") for _, headers in web.requests]
        starts = [100_000 - OVERLAP_BYTES, 100_000 - OVERLAP_BYTES, 150_000 - OVERLAP_BYTES]
        assert ranges == [None, *(f"bytes={start}-" for start in starts)]

    def test_changed_file_raises(self, web):
        with storage.reading(f"{web.address}/a.bin") as stream:
            stream.seek(10)
            web.files["/a.bin"] = CONTENT[:-1] + b"?"
            with pytest.raises(BitcipherError, match=r"a\.bin changed while it was read"):
                stream.read()

    @pytest.mark.parametrize(("setting", "message"), [("supports_ranges", "range requests"), ("validators", "no ETag")])
    def test_server_without_ranges_or_versions(self, web, setting, message):
        setattr(web, setting, False)
        assert read(f"{web.address}/a.bin") == CONTENT
        web.cut_after = [10]
        with pytest.raises(BitcipherError, match=f"{message}.*: download the file"):
            read(f"{web.address}/a.bin")

    def test_server_without_sizes(self, web):
        web.sends_size = False
        with pytest.raises(BitcipherError, match="does not report the size"):
            read(f"{web.address}/a.bin")

    def test_busy_server_is_asked_again(self, web):
        web.statuses = [503, 429]
        assert read(f"{web.address}/a.bin") == CONTENT

    def test_error_after_all_attempts(self, web):
        web.statuses = [500] * 5
        with pytest.raises(BitcipherError, match=r"status 500 \(in 5 attempts\)"):
            read(f"{web.address}/a.bin")
        assert len(web.requests) == 5

    def test_forbidden_file_is_not_asked_again(self, web):
        web.statuses = [403]
        with pytest.raises(BitcipherError, match=r"status 403.*credentials"):
            read(f"{web.address}/a.bin")
        assert len(web.requests) == 1

    def test_silent_server_is_given_up(self, monkeypatch):
        monkeypatch.setattr(http_files, "FIRST_WAIT_SECONDS", 0.001)
        monkeypatch.setattr(http_connection, "READ_SECONDS", 0.05)
        with socket.create_server(("127.0.0.1", 0)) as server:
            started = time.monotonic()
            with pytest.raises(BitcipherError, match="timed out"):
                read(f"http://127.0.0.1:{server.getsockname()[1]}/a")
            assert time.monotonic() - started < 5


class TestWrongServers:
    """Servers that report a wrong size, or send other bytes than requested."""

    def test_more_bytes_than_reported(self, web):
        web.size_factor = 0.5
        with pytest.raises(BitcipherError, match=r"a\.bin sends more bytes than it reports: download"):
            read(f"{web.address}/a.bin")

    @pytest.mark.parametrize("content", [CONTENT, b"the same words again\n" * 20_000])
    def test_fewer_bytes_than_reported(self, web, content):
        web.files["/a.bin"] = content
        web.size_factor = 2
        with pytest.raises(BitcipherError, match=r"a\.bin sends another part of the file|closed the connection"):
            read(f"{web.address}/a.bin")

    def test_range_with_other_bytes(self, web):
        web.cut_after = [100_000]
        with storage.reading(f"{web.address}/a.bin") as stream:
            assert stream.read(10) == CONTENT[:10]
            web.changes_bodies = True
            with pytest.raises(BitcipherError, match=r"a\.bin sends another part of the file than requested"):
                stream.read()

    @pytest.mark.parametrize("encoding", ["gzip", "br"])
    def test_compressed_response(self, web, encoding):
        web.encoding = encoding
        with pytest.raises(BitcipherError, match=r"a\.bin sends the file in another encoding"):
            read(f"{web.address}/a.bin")

    def test_stored_gzip_file_that_is_declared_as_compressed_response(self, web):
        web.files["/a.txt.gz"] = gzip.compress(CONTENT)
        web.encoding = "x-gzip"
        assert read(f"{web.address}/a.txt.gz?part=1") == web.files["/a.txt.gz"]

    def test_chunks(self, web):
        web.sends_chunks = True
        assert read(f"{web.address}/a.bin") == CONTENT

    def test_connection_that_stays_open_after_the_file(self, web, monkeypatch):
        monkeypatch.setattr(http_connection, "END_SECONDS", 0.05)
        response = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntext"
        with socket.create_server(("127.0.0.1", 0)) as server:
            threading.Thread(target=lambda: server.accept()[0].sendall(response), daemon=True).start()
            assert read(f"http://127.0.0.1:{server.getsockname()[1]}/a") == b"text"


class TestRedirects:
    def test_file_elsewhere_is_read(self, web):
        web.redirects["/moved"] = "/again"
        web.redirects["/again"] = f"{web.address}/a.bin"
        assert read(f"{web.address}/moved") == CONTENT

    def test_loops_end(self, web):
        web.redirects["/loop"] = "/loop"
        with pytest.raises(BitcipherError, match="more than 5 redirects"):
            read(f"{web.address}/loop")
        assert len(web.requests) == 6

    @pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://host/a", "gopher://host/a", "data:text/plain,a"])
    def test_other_protocols_are_refused(self, web, target):
        web.redirects["/moved"] = target
        with pytest.raises(BitcipherError, match=r"not a web address|no valid host"):
            read(f"{web.address}/moved")

    @pytest.mark.parametrize(
        "target",
        [
            "http://169.254.169.254/latest/meta-data/",
            "http://[::1]/a.bin",
            "http://10.0.0.1/a.bin",
            "http://[::ffff:169.254.169.254]/",
            "http://[64:ff9b::a00:1]/",
            "http://0.0.0.0/",
            "http://inner.example.org/a.bin",
            "//localhost6.example.org/a.bin",
        ],
    )
    def test_public_server_cannot_redirect_to_private_addresses(self, web, public_names, target):
        public_names |= {"inner.example.org": "192.168.1.1", "localhost6.example.org": "::1"}
        web.redirects["/moved"] = target
        with pytest.raises(BitcipherError, match="a private address"):
            read(f"http://public.example.org:{web.port}/moved")

    def test_public_server_can_redirect_to_public_addresses(self, web, public_names):
        public_names["other.example.org"] = "127.0.0.1"
        web.redirects["/moved"] = f"http://other.example.org:{web.port}/a.bin"
        assert read(f"http://public.example.org:{web.port}/moved") == CONTENT

    def test_names_are_resolved_once_per_request(self, web, public_names, monkeypatch):
        hosts = []
        resolve = socket.getaddrinfo
        monkeypatch.setattr(
            socket, "getaddrinfo", lambda host, *args, **kw: hosts.append(host) or resolve(host, *args, **kw)
        )
        assert read(f"http://public.example.org:{web.port}/a.bin") == CONTENT
        assert hosts.count("public.example.org") == 1


class TestCredentials:
    BASIC = "Basic bWU6d29yZA=="

    def test_user_and_password_are_sent(self, web):
        web.authorization = self.BASIC
        assert read(f"http://me:word@127.0.0.1:{web.port}/a.bin") == CONTENT

    def test_user_and_password_are_not_sent_to_other_servers(self, web):
        web.redirects["/same"] = "/a.bin"
        web.redirects["/moved"] = f"http://other:name@localhost:{web.port}/a.bin"
        for path in ("same", "moved"):
            read(f"http://me:word@127.0.0.1:{web.port}/{path}")
        sent = [headers.get("Authorization") for _, headers in web.requests]
        assert sent == [self.BASIC, self.BASIC, self.BASIC, None]

    @pytest.mark.parametrize("status", [403, 404, 500])
    def test_errors_have_no_credentials(self, web, status, capfd):
        web.statuses = [status] * 5
        with pytest.raises(BitcipherError) as error:
            read(f"http://me:word@127.0.0.1:{web.port}/a.bin?token=hidden")
        messages = []
        cause = error.value
        while cause:
            messages.append(str(cause))
            cause = cause.__cause__
        assert "word" not in str(messages)
        assert "hidden" not in str(messages)
        assert f"127.0.0.1:{web.port}/a.bin" in messages[0]


@pytest.mark.parametrize("url", ["http://", "http:///a", "http://host:x/a", "http://a b/", "http://h/a\x1bb?token=1"])
def test_wrong_urls_raise(url):
    with pytest.raises(BitcipherError, match=r"no valid host|white space") as error:
        read(url)
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("100.64.0.1", False),
        ("fe80::1%eth0", False),
        ("224.0.0.1", False),
        ("2002:7f00:1::", False),
        ("fd00::1", False),
        ("64:ff9b::808:808", True),
        ("64:ff9b:1::7f00:1", False),
        ("::ffff:0:7f00:1", False),
        ("fec0::1", False),
    ],
)
def test_public_addresses(address, expected):
    assert http_connection.is_public(address) == expected


def test_levels_of_addresses():
    """Metadata services of clouds count as this machine, also at addresses that are public or private elsewhere."""
    machine = ["127.0.0.2", "0.0.0.0", "0.1.2.3", "169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192"]
    machine += ["::", "::1", "fe80::1%eth0", "fd00:ec2::254", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1"]
    machine += ["::ffff:0:127.0.0.1"]
    assert {http_connection.level_of(address) for address in machine} == {http_connection.NetworkLevel.MACHINE}
    private = ["10.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1", "fd00::1", "::ffff:10.0.0.1", "2002:a00:1::"]
    assert {http_connection.level_of(address) for address in private} == {http_connection.NetworkLevel.PRIVATE}
    assert {http_connection.level_of(address) for address in ("8.8.8.8", "2600::1")} == {
        http_connection.NetworkLevel.PUBLIC
    }


@pytest.mark.parametrize("level", http_connection.NetworkLevel)
def test_access_is_part_of_a_url(level):
    access = http_connection.Access(level, ("127.0.0.1:80", "::1:80"))
    for url in ("http://host/a.txt", "http://host/a.txt?part=1", "http://host/a.txt#bitcipher-access=MACHINE"):
        limited = http_connection.with_access(url, access)
        assert http_connection.access_of(limited) == access
        assert http_connection.without_access(limited) == redact(limited) == url.partition("#")[0]
    assert http_connection.access_of("http://host/a.txt") == http_connection.ANYWHERE
    assert http_connection.access_of("http://host/a.txt#bitcipher-access=all") == http_connection.PUBLIC_ONLY


def test_compressed_file_is_not_decompressed_by_the_connection(web):
    web.files["/a.gz"] = gzip.compress(b"text")
    assert read(f"{web.address}/a.gz") == web.files["/a.gz"]
    assert web.requests[0][1]["Accept-Encoding"] == "identity"
