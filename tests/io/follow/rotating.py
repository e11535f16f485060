"""A recorder that rotates its files, on the loopback of a network where nothing else is, and Kafka to be recorded.

    python -m tests.io.follow.rotating RECORDER WORD ...

The words are the recorder's own. It talks until standard input ends, then the recorder ends, too.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

from tests.bench.recording import loopback_like_a_wire
from tests.cli.test_exchanges import ASK, TOLD

PORT = 9092
# A pause after so many exchanges, so that files are not only long ones.
_EACH, _PAUSE = 40, 0.05
_SETTLED = 1.0


def main(recorder: str, *words: str) -> int:
    """The status of the recorder."""
    loopback_like_a_wire()
    # As root, tcpdump would become another user, who may not write here.
    stay = ["-Z", "root"] if os.path.basename(recorder) == "tcpdump" and os.geteuid() == 0 else []
    command = [recorder, "-i", "lo", *stay, *words]
    recording = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    over = threading.Event()
    threading.Thread(target=_await_end, args=(over,), daemon=True).start()
    try:
        time.sleep(_SETTLED)
        _talk(over)
        time.sleep(_SETTLED)
    finally:
        recording.send_signal(signal.SIGINT)
        status = recording.wait()
    return status


def _await_end(over: threading.Event) -> None:
    sys.stdin.read()
    over.set()


def _talk(over: threading.Event) -> None:
    with socket.create_server(("127.0.0.1", PORT)) as server:
        threading.Thread(target=_serve, args=(server,), daemon=True).start()
        while not over.is_set():
            with socket.create_connection(("127.0.0.1", PORT)) as client:
                for _ in range(_EACH):
                    client.sendall(ASK)
                    _receive(client, len(TOLD))
            time.sleep(_PAUSE)


def _serve(server: socket.socket) -> None:
    while True:
        client, _ = server.accept()
        with client:
            while _receive(client, len(ASK)):
                client.sendall(TOLD)


def _receive(end: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size and (more := end.recv(size - len(found))):
        found += more
    return found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
