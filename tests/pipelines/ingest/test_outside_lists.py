"""Lists of paths from servers and stores: 107 hostile lines, none of which is opened, and good ones, which are read.

The servers record their requests, and an audit hook records the files of this machine that are opened.
"""

import io
import socket
import sys
import tarfile
import zipfile

import pytest
from builds import OPTIONS
from hostile_lists import ADDRESSES, CHAINS, IN_BUCKET, IN_PRIVATE_NETWORK, LOCAL, ON_THIS_MACHINE, STORES
from web_server import WebServer

from bitcipher.errors import BitcipherError
from bitcipher.files import http_connection, http_files, storage
from pipelines.ingest import path_lists
from pipelines.ingest.content_hash import hash_sources
from pipelines.ingest.documents import read_documents
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.sources import list_sources
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.store.fingerprint import fingerprint
from pipelines.store.manifest import read_manifest

SECRET = "the private words"
REAL_RESOLVER = socket.getaddrinfo


class Servers:
    """The good and the private servers, with the names that lines use."""

    def __init__(self, folder, public, private, other, network, store, buckets):
        self.public, self.private, self.other, self.network, self.store = public, private, other, network, store
        self.names = {
            "folder": str(folder),
            "port": str(public.port),
            "other_port": str(other.port),
            "public": buckets[0].removeprefix("s3://"),
            "private": buckets[1].removeprefix("s3://"),
        }
        self.opened = []

    def lines(self, text):
        return [line.format(**self.names) for line in text.strip().split("\n")]

    def secrets_read(self):
        """Return what was requested of the private servers or opened of the private files since the last call."""
        requests = [path for each in (self.private, self.other, self.network) for path, _ in each.requests]
        requests = [path for path in requests if not path.endswith(".paths")]
        requests += [each for each in self.store.requests if self.names["private"] in each]
        found = [*requests, *self.opened]
        for each in (self.private.requests, self.other.requests, self.network.requests, self.store.requests):
            each.clear()
        self.opened.clear()
        return found


@pytest.fixture
def servers(tmp_path, monkeypatch, faulty_s3):
    """A public server, and private ones on the same port of other addresses of this machine."""
    monkeypatch.setattr(http_files, "FIRST_WAIT_SECONDS", 0.001)
    monkeypatch.setattr(http_connection, "CONNECT_SECONDS", 0.5)
    monkeypatch.setenv("HOME", str(tmp_path))
    _write_secrets(tmp_path)
    _resolve_names(monkeypatch)
    with (
        WebServer() as public,
        WebServer("127.0.0.2", public.port) as private,
        WebServer("127.0.0.3", public.port) as network,
        WebServer("127.0.0.2") as other,
    ):
        public.files |= {f"/{name}.txt": b"good words" for name in ("a", "deep/b", "crawl-data/c", "secret")}
        public.redirects["/moved.txt"] = f"http://127.0.0.2:{public.port}/secret.txt"
        for each in (private, network, other):
            each.files["/secret.txt"] = SECRET.encode()
        buckets = [f"s3://{name}-{public.port}" for name in ("public", "private")]
        for bucket in buckets:
            filesystem, path = storage.url_to_fs(bucket)
            filesystem.mkdir(path)
        storage.write_bytes(f"{buckets[0]}/deep/a.txt", b"good words")
        storage.write_bytes(f"{buckets[0]}/b.txt", b"good words")
        storage.write_bytes(f"{buckets[1]}/secret.txt", SECRET.encode())
        found = Servers(tmp_path, public, private, other, network, faulty_s3, buckets)
        _HOOK.opened, _HOOK.folder = found.opened, f"{tmp_path}/"
        found.store.requests.clear()
        yield found
        _HOOK.opened = None


def _write_secrets(folder):
    (folder / "secret.txt").write_text(SECRET)
    (folder / "reference.json").write_text('{"secret.txt": "the private words"}')
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.writestr("secret.txt", SECRET)
    with tarfile.open(folder / "a.tar", "w") as archive:
        info = tarfile.TarInfo("secret.txt")
        info.size = len(SECRET)
        archive.addfile(info, io.BytesIO(SECRET.encode()))


class _Hook:
    """Audit hook, which cannot be removed: it records nothing unless a test sets `opened`."""

    opened = None
    folder = ""

    def __call__(self, event, arguments):
        if self.opened is not None and event == "open" and str(arguments[0]).startswith(self.folder):
            self.opened.append(arguments[0])


_HOOK = _Hook()
sys.addaudithook(_HOOK)


def _resolve_names(monkeypatch):
    """Resolve names of example.org, some to another address at the second, third or fourth time.

    The address of the public server counts as public, and 127.0.0.3 as one of a private network.
    """
    answers = {f"second{number}.example.org": ["127.0.0.1"] * number + ["127.0.0.2"] for number in (1, 2, 3)}
    names = {"public.example.org": "127.0.0.1", "private.example.org": "127.0.0.2", "localhost6.example.org": "::1"}

    def resolve(host, *arguments, **settings):
        if host in answers:
            names[host] = answers[host].pop(0) if len(answers[host]) > 1 else answers[host][0]
        return REAL_RESOLVER(names.get(host, host), *arguments, **settings)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    is_public = http_connection.is_public
    monkeypatch.setattr(http_connection, "is_public", lambda address: address == "127.0.0.1" or is_public(address))
    if hasattr(http_connection, "level_of"):
        level_of = http_connection.level_of
        levels = {"127.0.0.3": http_connection.NetworkLevel.PRIVATE}
        monkeypatch.setattr(http_connection, "level_of", lambda address: levels.get(address) or level_of(address))


def read(pattern, **options):
    """Return the documents that a list names."""
    sources = hash_sources(list_sources([pattern], **options), [], InProcessRuntime())
    return [text for source in sources for text in read_documents(source, ReadOptions())]


def accepted(servers, pattern, write, lines, capfd):
    """Return the hostile lines that are not refused in one sentence, or read a secret."""
    found = []
    for line in lines:
        write(line)
        servers.secrets_read()
        try:
            result = repr(read(pattern))
        except BitcipherError as error:
            result = f"{error} {''.join(capfd.readouterr())}"
            if "Traceback" not in result and SECRET not in result and not servers.secrets_read():
                continue
        except Exception as error:
            result = repr(error)
        found.append((line, result))
    return found


def test_hostile_lines_are_not_opened(servers, capfd, tmp_path):
    public = f"http://public.example.org:{servers.public.port}/list.paths"
    bucket = f"s3://{servers.names['public']}/list.paths"

    def write_to(files):
        return lambda line: files.update({"/list.paths": line.encode()})

    def write_to_bucket(line):
        storage.write_bytes(bucket, line.encode())

    cases = [
        (public, write_to(servers.public.files), servers.lines(LOCAL + CHAINS.lstrip() + STORES.lstrip())),
        (public, write_to(servers.public.files), servers.lines(ADDRESSES)),
        (bucket, write_to_bucket, servers.lines(IN_BUCKET)),
        (
            f"http://127.0.0.3:{servers.public.port}/list.paths",
            write_to(servers.network.files),
            servers.lines(IN_PRIVATE_NETWORK),
        ),
        (f"{servers.private.address}/list.paths", write_to(servers.private.files), servers.lines(ON_THIS_MACHINE)),
    ]
    found = [each for pattern, write, lines in cases for each in accepted(servers, pattern, write, lines, capfd)]
    print(*found, sep="\n")
    assert found == []
    assert sum(len(lines) for *_, lines in cases) >= 107
    write_to_bucket("deep/a.txt")
    with pytest.raises(BitcipherError, match=r"Line 1 of simplecache::.*relative to a chained URI"):
        read(f"simplecache::{bucket}")


def test_good_lines_are_read(servers, tmp_path, monkeypatch):
    monkeypatch.setattr(path_lists, "COMMONCRAWL", f"http://public.example.org:{servers.public.port}/")
    public = f"http://public.example.org:{servers.public.port}"
    lines = ["a.txt", "deep/b.txt", f"{public}/a.txt?part=1", f"{servers.public.address}/a.txt", "crawl-data/c.txt"]
    servers.public.files["/list.paths"] = "\n".join(lines).encode()
    assert read(f"{public}/list.paths") == ["good words"] * 5
    bucket = f"s3://{servers.names['public']}"
    lines = ["b.txt", f"{bucket}/deep/*.txt", f"s3a://{servers.names['public']}/b.txt", f"{public}/a.txt"]
    storage.write_bytes(f"{bucket}/list.paths", "\n".join(lines).encode())
    assert read(f"{bucket}/list.paths") == ["good words"] * 3  # the first and the third are one object
    private = f"s3://{servers.names['private']}/secret.txt"
    storage.write_bytes(f"{bucket}/list.paths", private.encode())
    assert read(f"{bucket}/list.paths", list_protocols=["s3"]) == [SECRET]
    servers.private.files["/list.paths"] = (
        f"secret.txt\n{public}/a.txt\nhttp://127.0.0.3:{servers.public.port}/secret.txt".encode()
    )
    assert sorted(read(f"{servers.private.address}/list.paths")) == ["good words", SECRET, SECRET]
    own = [f"{tmp_path}/secret.txt", private, f"{servers.private.address}/secret.txt", "secret.txt"]
    (tmp_path / "list.paths").write_text("\n".join(own))
    servers.secrets_read()
    assert read(str(tmp_path / "list.paths")) == [SECRET] * 3
    # What the test of hostile lines relies on: everything that is read is recorded.
    recorded = " ".join(servers.secrets_read())
    for each in (f"{tmp_path}/secret.txt", f"/{servers.names['private']}/secret.txt", " /secret.txt"):
        assert each in recorded


def test_all_lines_are_checked_first(servers):
    public = f"http://public.example.org:{servers.public.port}"
    servers.public.files["/list.paths"] = b"a.txt\ndeep/b.txt\n~/secret.txt\n"
    with pytest.raises(BitcipherError, match=r"Line 3 of .*list\.paths names ~/secret\.txt, a file of this machine"):
        list_sources([f"{public}/a.txt", f"{public}/list.paths"])
    assert [path for path, _ in servers.public.requests] == ["/list.paths"]


def test_protocols_that_cannot_be_allowed():
    for protocol in ("file", "local", "simplecache", "zip", "memory", "http", "sftp", "S3", ""):
        with pytest.raises(BitcipherError, match=r"`list_protocols` must be of s3, .*files of this machine"):
            ReadOptions(list_protocols=(protocol,))
    assert "list_protocols" not in ReadOptions(list_protocols=("s3",)).to_dict()


def test_workers_connect_to_allowed_addresses_only(servers, ray_cluster):
    import ray

    servers.public.files["/list.paths"] = b"a.txt"
    (source,) = list_sources([f"http://public.example.org:{servers.public.port}/list.paths"])
    assert "access" not in source.uri + repr(source)
    (again,) = list_sources([source.read_uri])
    assert again.read_uri == source.read_uri

    def read_there(source, address):
        resolve = socket.getaddrinfo
        socket.getaddrinfo = lambda host, *arguments, **settings: resolve(address, *arguments, **settings)
        try:
            with storage.reading(source.read_uri) as stream:
                return stream.read()
        except BitcipherError as error:
            return str(error)
        finally:
            socket.getaddrinfo = resolve

    task = ray.remote(read_there)
    for address in ("127.0.0.2", "10.0.0.1", "169.254.169.254"):
        refused = ray.get(task.remote(source, address))
        assert "a.txt is at public.example.org, a private address" in refused
        assert "bitcipher-access" not in refused
    assert servers.secrets_read() == []


def test_commands_take_the_option(servers, run_command, tmp_path):
    text = "the cat saw the dog and the dog saw the cat\n" * 200
    bucket, private = (f"s3://{servers.names[name]}" for name in ("public", "private"))
    for number in (1, 2):
        storage.write_bytes(f"{private}/{number}.txt", f"{number} {text}".encode())
        storage.write_bytes(f"{bucket}/{number}.paths", f"{private}/{number}.txt".encode())
    options = ["--workers", 0, "--list-protocols", "s3"]
    small = ["--min-count", 1, "--mode", "cat", "--window", 2, "--bits", 4, "--tokenizer", "whitespace"]
    refused = run_command("build", f"{bucket}/1.paths", "--out", tmp_path / "build", "--workers", 0, *small)
    assert refused.code == 2
    assert "allow its protocol with `--list-protocols s3`" in refused.err
    assert run_command("build", f"{bucket}/1.paths", "--out", tmp_path / "build", *options, *small).code == 0
    assert run_command("update", tmp_path / "build", f"{bucket}/2.paths", *options).code == 0
    manifest = read_manifest(str(tmp_path / "build"))
    assert "list_protocols" not in manifest.options.to_dict()
    assert fingerprint(OPTIONS.copy_with(list_protocols=("s3",))) == fingerprint(OPTIONS)
    (tmp_path / "recipe.yaml").write_text(f"sources: ['{bucket}/1.paths']\nlist_protocols: [s3]\n")
    assert "the cat saw" in run_command("sample", "--recipe", tmp_path / "recipe.yaml").out
