"""Serve what a live watch sees as metrics, for Prometheus."""

import time
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING

from netdiag.app.progress import Listener
from netdiag.deployment.model.verdict import parse_address
from netdiag.errors import UsageError, cannot_import
from netdiag.kafka.listeners import is_loopback
from netdiag.render.metrics import metrics
from netdiag.render.report import Report

if TYPE_CHECKING:
    from netdiag.io.metrics import MetricsServer

_HERE = "127.0.0.1"


def metrics_server(address: str, listener: Listener) -> "MetricsServer":
    """The server for `HOST:PORT`, or a port of this machine's loopback; UsageError for what is neither.

    The listener hears where it serves, and of an address that other machines reach. MissingExtra without the library.
    """
    try:
        from netdiag.io.metrics import MetricsServer
    except ImportError as error:
        raise cannot_import("--metrics", error, extra="metrics") from error
    try:
        where = parse_address(address if ":" in address else f"{_HERE}:{address}")
    except UsageError as error:
        raise UsageError(f"--metrics: {error.message}") from error
    if not is_loopback(where.host):
        listener.notice(f"anybody who reaches {where} can read the metrics: they name containers and addresses")
    listener.notice(f"metrics are at http://{where}/metrics")
    return MetricsServer(where)


def measured(check: Callable[[], Report], server: "MetricsServer") -> Callable[[], Report]:
    """The same check; the server shows each report as soon as it is there, and how long it took."""
    rounds = count(1)

    def run() -> Report:
        began = time.monotonic()
        report = check()
        took = time.monotonic() - began
        server.show(metrics(report, rounds=next(rounds), seconds=took, ended=time.time()))
        return report

    return run
