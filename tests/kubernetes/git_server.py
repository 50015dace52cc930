#!/usr/bin/env python3
"""A git server for tests: private repositories over https with a password, and over ssh with a key.

As a program, ``git_server.py FOLDER`` serves `FOLDER/repositories` in a container with OpenSSH: https at 8443 with the
files ``tls.pem`` of FOLDER, ssh at 22 with ``host_key`` and ``authorized_keys``. Only the standard library is used.
"""

from __future__ import annotations

import base64
import os
import shutil
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

USER, PASSWORD = "lin", "p:a$s word/ü"
SCRIPT = """import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "part"))
import part, helper
print(helper.WORD, part.PART)
"""


def make_repositories(folder: Path) -> None:
    """Make `code.git`, whose submodule has a relative address, and the submodule `part.git`."""
    part, code = folder / "part.git", folder / "code.git"
    for repository, files in (
        (part, {"part.py": "PART = 'part'\n"}),
        (code, {"train.py": SCRIPT, "helper.py": "WORD = 'first'\n"}),
    ):
        repository.mkdir(parents=True)
        _git(repository, "init", "--quiet")
        for name, text in files.items():
            (repository / name).write_text(text)
        _git(repository, "add", ".")
    _git(part, "commit", "--quiet", "-m", "part")
    commit = _git(part, "rev-parse", "HEAD")
    (code / ".gitmodules").write_text('[submodule "part"]\n\tpath = part\n\turl = ../part.git\n')
    _git(code, "update-index", "--add", "--cacheinfo", f"160000,{commit},part")
    _git(code, "add", ".gitmodules")
    _git(code, "commit", "--quiet", "-m", "first")


def _git(folder: Path, *words: str) -> str:
    options = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    return subprocess.run(
        ["git", *options, *words], cwd=folder, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder: Path

    def do_GET(self) -> None:
        """Answer as `git http-backend` does, if user and password are right."""
        words = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length)
        if self.headers.get("Authorization") != f"Basic {words}":
            self._send(401, [("WWW-Authenticate", 'Basic realm="git"')], b"no\n")
            return
        parts = urlsplit(self.path)
        env = {
            **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
            "GIT_PROJECT_ROOT": str(self.folder), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": parts.path,
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
            "QUERY_STRING": parts.query, "REQUEST_METHOD": self.command, "CONTENT_LENGTH": str(length),
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "REMOTE_USER": USER,
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }  # fmt: skip
        done = subprocess.run(["git", "http-backend"], input=body, stdout=subprocess.PIPE, env=env, check=True)
        head, _empty, content = done.stdout.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, value in fields if name == "Status"), 200)
        self._send(status, [(name, value) for name, value in fields if name != "Status"], content)

    def do_POST(self) -> None:
        """Answer as to GET."""
        self.do_GET()

    def _send(self, status: int, fields: list[tuple[str, str]], content: bytes) -> None:
        self.send_response(status)
        for name, value in [*fields, ("Content-Length", str(len(content)))]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        pass


def https_server(folder: Path, certificate: Path, address: tuple[str, int]) -> ThreadingHTTPServer:
    """Serve the repositories of a folder from a thread; the certificate's file also has its key."""
    handler = type("Handler", (_Handler,), {"folder": folder})
    server = ThreadingHTTPServer(address, handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main() -> None:
    """Serve until the container ends."""
    folder, own = Path(sys.argv[1]), Path("/run/t9kjob")
    own.mkdir(parents=True)
    for name in ("host_key", "authorized_keys"):  # OpenSSH demands files that nobody else can read or write.
        shutil.copyfile(folder / name, own / name)
        (own / name).chmod(0o600)
    repositories = Path("/srv/repositories")
    make_repositories(repositories)
    https_server(repositories, folder / "tls.pem", ("", 8443))
    Path("/run/sshd").mkdir(exist_ok=True)
    options = [
        "StrictModes=no", "PasswordAuthentication=no", "PermitRootLogin=prohibit-password", f"HostKey={own}/host_key",
        f"AuthorizedKeysFile={own}/authorized_keys", "MaxStartups=200",  # All jobs of the tests connect at once.
    ]  # fmt: skip
    words = ["/usr/sbin/sshd", "-D", "-e", *(word for option in options for word in ("-o", option))]
    subprocess.run(words, check=True)


if __name__ == "__main__":
    main()
