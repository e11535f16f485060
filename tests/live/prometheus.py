"""A real Prometheus on this machine's loopback, which scrapes one target."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.tools import tool

_HERE = "127.0.0.1"


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.create_server((_HERE, 0)) as listening:
        port = listening.getsockname()[1]
    assert isinstance(port, int)
    return port


class Prometheus:
    """Answers queries at its port."""

    def __init__(self, port: int) -> None:
        self._port = port

    def ask(self, query: str) -> list[tuple[dict[str, str], float]]:
        """The labels and the value of each series of an instant query; none while it does not serve yet."""
        url = f"http://{_HERE}:{self._port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                document = json.load(answer)
        except (urllib.error.URLError, ConnectionError):
            return []
        return [(one["metric"], float(one["value"][1])) for one in document["data"]["result"]]

    def until(self, query: str, value: float, *, limit: float = 120) -> float:
        """Wait until the only series of a query has at least this value, or is 0 if that is asked for; the seconds."""
        begin = time.monotonic()
        while time.monotonic() - begin < limit:
            found = [seen for _, seen in self.ask(query)]
            if len(found) == 1 and (found[0] == value or 0 < value <= found[0]):
                return time.monotonic() - begin
            time.sleep(0.05)
        raise AssertionError(f"{query} is {self.ask(query)} after {limit} s")


@contextmanager
def scraping(target: int, folder: Path, *, every: int) -> Iterator[Prometheus]:
    """A Prometheus for the block that asks a port of loopback every so many seconds."""
    config = folder / "prometheus.yml"
    job = {
        "job_name": "netdiag",
        "scrape_interval": f"{every}s",
        "static_configs": [{"targets": [f"{_HERE}:{target}"]}],
    }
    config.write_text(json.dumps({"scrape_configs": [job]}), encoding="utf-8")
    port = free_port()
    words = [
        f"--config.file={config}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address={_HERE}:{port}",
    ]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen([tool("prometheus"), *words], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            yield Prometheus(port)
        finally:
            process.terminate()
            process.wait(30)
