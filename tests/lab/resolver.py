"""A DNS server that knows no name: NXDOMAIN to every question, at once, over UDP and TCP.

In a network without a way out an unknown name would not fail, it would hang until the resolver
library gives up; real networks answer. Runs as a process of its own inside the docker host's
namespace: `python resolver.py ADDRESS`. Prints one line when it listens.
"""

from __future__ import annotations

import socketserver
import struct
import sys

_HEADER = 12
_QR_RD_RA_NXDOMAIN = 0x8183


def answer(question: bytes) -> bytes | None:
    """The NXDOMAIN message for one query; None for what is no query."""
    if len(question) < _HEADER:
        return None
    number, flags, questions = struct.unpack_from(">HHH", question)
    if flags & 0x8000 or questions != 1:
        return None
    end = _question_end(question)
    if end is None:
        return None
    header = struct.pack(">HHHHHH", number, _QR_RD_RA_NXDOMAIN, 1, 0, 0, 0)
    return header + question[_HEADER:end]


def _question_end(message: bytes) -> int | None:
    at = _HEADER
    while at < len(message):
        length = message[at]
        at += 1 + length
        if length == 0:
            return at + 4 if at + 4 <= len(message) else None
        if length > 63:
            return None
    return None


class _Udp(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        data, sock = self.request
        reply = answer(data)
        if reply is not None:
            sock.sendto(reply, self.client_address)


class _Tcp(socketserver.StreamRequestHandler):
    timeout = 5

    def handle(self) -> None:
        size = self.rfile.read(2)
        if len(size) == 2:
            reply = answer(self.rfile.read(int.from_bytes(size, "big")))
            if reply is not None:
                self.wfile.write(len(reply).to_bytes(2, "big") + reply)


class _TcpServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def main(address: str) -> None:
    """Serve until killed."""
    import threading

    udp = socketserver.UDPServer((address, 53), _Udp)
    tcp = _TcpServer((address, 53), _Tcp)
    threading.Thread(target=tcp.serve_forever, daemon=True).start()
    print("listening", flush=True)
    udp.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
