"""A stand-in for a service that speaks HTTP: `stand_in.py ADDRESS PORT [CERTIFICATE KEY]` answers each GET with {}."""

import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """An empty object, as a Schema Registry's root."""
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        """Nothing."""


if __name__ == "__main__":
    server = ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), _Answer)
    if len(sys.argv) > 3:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[3], sys.argv[4])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()
