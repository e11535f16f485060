"""An engine's API on a unix socket, that answers as it is told."""

import contextlib
import json
import socketserver
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path

Answers = Mapping[str, object]
"""Path without its version, with or without its query -> document; an int is a status, bytes are sent as they are,
None is silence, and a tuple of bytes is silence after these."""

VERSION = {"ApiVersion": "1.41", "Version": "20.10.24", "Os": "linux", "MinAPIVersion": "1.12"}


@contextlib.contextmanager
def fake_engine(path: Path, answers: Answers) -> Iterator[str]:
    """Serve for the block; gives the URL."""
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked = "/" + self.path.split("/", 2)[2] if self.path.startswith("/v1.") else self.path
            found = answers.get(asked, answers.get(asked.partition("?")[0], 404))
            if found is None:
                over.wait(20)
                self.close_connection = True
                return
            if isinstance(found, tuple):
                self.wfile.write(b"".join(found))
                self.wfile.flush()
                over.wait(20)
                self.close_connection = True
                return
            if isinstance(found, bytes):
                self.wfile.write(found)
                self.close_connection = True
                return
            status, body = (found, {"message": f"status {found}"}) if isinstance(found, int) else (200, found)
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

        def address_string(self) -> str:
            return "unix"

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            pass

    with Server(str(path), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"unix://{path}"
        finally:
            over.set()
            server.shutdown()
            thread.join()
