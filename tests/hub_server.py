"""Stand-in for the HTTP interface of the Hugging Face Hub on loopback: repositories, files and commits."""

import base64
import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


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
        match = re.fullmatch(r"/(?:api/models/)?([\w.-]+/[\w.-]+)(/.*)?", path)
        files = self.repositories.get(match[1]) if match else None
        if match is None or files is None:
            return 404, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}, b""
        rest = match[2] or ""
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
            return self._file(files, rest.split("/", 3)[3])
        if rest.startswith("/tree/"):
            return _json([{"type": "file", "path": p, "size": len(c), "oid": _oid(c)} for p, c in files.items()])
        siblings = [{"rfilename": name} for name in files]
        return _json({"id": match[1], "modelId": match[1], "sha": _commit(files), "siblings": siblings})

    def _file(self, files: dict[str, bytes], name: str) -> tuple[int, dict[str, str], bytes]:
        if name not in files:
            return 404, {"X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found"}, b""
        return 200, {"ETag": f'"{_oid(files[name])}"', "X-Repo-Commit": _commit(files)}, files[name]


def _json(value: Any) -> tuple[int, dict[str, str], bytes]:
    return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()


def _oid(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


def _commit(files: dict[str, bytes]) -> str:
    return _oid("".join(f"{name} {_oid(content)}\n" for name, content in sorted(files.items())).encode())
