"""Stand-in for the HTTP interface of the Hugging Face Hub on loopback: repositories, files and commits."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

ROOT = Path(__file__).parents[1]


class HubServer:
    """Server of repositories. `repositories` has the files of each by path, as of its newest commit."""

    def __init__(self) -> None:
        self.repositories: dict[str, dict[str, bytes]] = {}
        self.messages: list[str] = []
        """Messages of all commits."""
        self.requests: list[tuple[str, str]] = []
        """Method and path of each request."""
        self.token: str | None = None
        """Token that requests must have."""
        self.hostile: dict[str, dict[str, Any]] = {}
        """Wrong answers by repository: `sha` of the API, `file_headers` of files and of missing files, and further
        entries of its `tree`."""

    def __enter__(self) -> "HubServer":
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, headers, content = hub.answer(self.command, self.path.partition("?")[0], body, self.headers)
                self.send_response_only(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            do_GET = do_HEAD = do_POST = answer

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, path: str, body: bytes, headers: Any) -> tuple[int, dict[str, str], bytes]:
        """Return the status, headers and content of a response."""
        self.requests.append((method, path))
        if self.token and headers.get("Authorization") != f"Bearer {self.token}":
            return 401, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}, b""
        if path == "/api/repos/create":
            values = json.loads(body)
            name = "/".join(filter(None, (values.get("organization"), values["name"])))
            self.repositories.setdefault(name, {})
            return _json({"url": f"{self.address}/{name}", "name": name})
        if path == "/api/validate-yaml":
            return _json({"errors": [], "warnings": []})
        match = re.fullmatch(r"/(?:api/models/|api/datasets/|datasets/)?([\w.-]+/[\w.-]+)(/.*)?", path)
        files = self.repositories.get(match[1]) if match else None
        if match is None or files is None:
            return 404, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}, b""
        rest = match[2] or ""
        hostile = self.hostile.get(match[1], {})
        if rest.startswith("/preupload/"):
            names = [file["path"] for file in json.loads(body)["files"]]
            modes = [{"path": name, "uploadMode": "regular", "shouldIgnore": False} for name in names]
            return _json({"files": modes})
        if rest.startswith("/commit/"):
            for line in body.splitlines():
                record = json.loads(line)
                if record["key"] == "header":
                    self.messages.append(record["value"]["summary"])
                elif record["key"] == "file":
                    files[record["value"]["path"]] = base64.b64decode(record["value"]["content"])
            url = f"{self.address}/{match[1]}/commit/{_commit(files)}"
            return _json({"success": True, "commitOid": _commit(files), "commitUrl": url, "hookOutput": ""})
        if rest.startswith("/resolve/"):
            return _file(files, rest.split("/", 3)[3], hostile.get("file_headers", {}))
        if rest.startswith("/tree/"):
            return _json([*_tree(files), *hostile.get("tree", [])])
        if rest.startswith("/paths-info/"):
            wanted = parse_qs(body.decode()).get("paths", [])
            return _json([each for each in _tree(files) if each["path"] in wanted])
        siblings = [{"rfilename": name} for name in [*files, *(entry["path"] for entry in hostile.get("tree", []))]]
        sha = hostile.get("sha") or _commit(files)
        return _json({"id": match[1], "modelId": match[1], "sha": sha, "siblings": siblings})


def _file(files: dict[str, bytes], name: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
    if name not in files:
        error = {"X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found"}
        return 404, {**error, **headers}, b""
    return 200, {"ETag": f'"{_oid(files[name])}"', "X-Repo-Commit": _commit(files), **headers}, files[name]


def _tree(files: dict[str, bytes]) -> list[dict[str, Any]]:
    return [{"type": "file", "path": p, "size": len(c), "oid": _oid(c)} for p, c in files.items()]


def _json(value: Any) -> tuple[int, dict[str, str], bytes]:
    return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()


def _oid(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


def _commit(files: dict[str, bytes]) -> str:
    return _oid("".join(f"{name} {_oid(content)}\n" for name, content in sorted(files.items())).encode())


def make_hostile(hub: HubServer, outside: Path, files: dict[str, bytes]) -> dict[str, dict[str, Any]]:
    """Add repositories whose answers name a path outside of the cache. Return the answers by repository."""
    up = "../../../../escaped"
    entry = {"type": "file", "path": "a.json", "size": 2, "oid": "0" * 40}
    answers: list[dict[str, Any]] = [
        {"sha": up},
        {"sha": str(outside)},
        *({"file_headers": {"X-Repo-Commit": each}} for each in (up, str(outside))),
        *({"file_headers": {name: f'"{outside}"'}} for name in ("ETag", "X-Linked-Etag")),
        *({"file_headers": {"ETag": each}} for each in (f'"{up}"', f'W/"{up}"', "..", '"a/../../b"')),
        {"tree": [{**entry, "path": f"{up}.json"}]},
        {"tree": [{**entry, "path": f"{outside}.json"}]},
        {"tree": [{**entry, "oid": up}]},
        {"tree": [{**entry, "lfs": {"oid": up, "size": 2, "pointerSize": 9}}]},
    ]
    for number, each in enumerate(answers):
        hub.hostile[f"ada/{number}"] = each
        hub.repositories[f"ada/{number}"] = files
    return hub.hostile


def check_escaped(folder: Path) -> list[Path]:
    """Return the files below a folder that are not in the caches in it."""
    files = (path for path in folder.rglob("*") if path.is_file() or "escaped" in path.name)
    in_hub = r"cache/hub/(CACHEDIR\.TAG|(\.locks/)?(models|datasets)--ada--.*)"
    inside = re.compile(rf"{in_hub}|cache/datasets/_[^/]*\.lock")
    return [path for path in files if not inside.match(str(path.relative_to(folder)))]


def run_python(hub: HubServer, folder: Path, code: str, **variables: str) -> str:
    """Run code in another process, because huggingface_hub reads its environment when it is imported."""
    variables = {
        "HF_ENDPOINT": hub.address,
        "HF_HUB_OFFLINE": "0",
        "HF_DATASETS_OFFLINE": "0",
        "HF_HOME": str(folder / "cache"),
        **variables,
    }
    variables |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "PYTHONPATH": str(ROOT)}
    script = f"from bitcipher import BitcipherError, CipherVectors\n{code}"
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, env={**os.environ, **variables}, cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
