"""Metrics over HTTP, in the text formats of Prometheus and OpenMetrics, as the client library writes them."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, StateSetMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from netdiag.deployment.model.verdict import Address
from netdiag.errors import NetdiagError
from netdiag.render.metrics import Kind, Metric

PATIENCE = 10.0
"""Seconds that a client has for its question, and for taking the answer."""


class MetricsServer(Collector):
    """Serves the metrics that it was shown last, at an address of this machine, until it is left.

    NetdiagError where the address cannot be served.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._metrics: tuple[Metric, ...] = ()

    def show(self, metrics: Iterable[Metric]) -> None:
        """From now on these are served."""
        self._metrics = tuple(metrics)

    def collect(self) -> Iterator[Family]:
        """What the library asks for at each scrape."""
        return map(_family, self._metrics)

    def __enter__(self) -> Self:
        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        try:
            self._server, self._thread = start_http_server(self._address.port, self._address.host, registry)
        except OSError as error:
            reason = error.strerror or str(error)
            raise NetdiagError(f"cannot be served: {reason}", where=str(self._address)) from error
        self._server.RequestHandlerClass = _bounded(self._server.RequestHandlerClass)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _bounded(handler: Any) -> Any:
    """The same handler for a connection, which gives up on a client that neither asks nor reads."""

    class Bounded(handler):  # type: ignore[misc]
        timeout = PATIENCE

        def handle(self) -> None:
            with suppress(OSError):
                super().handle()

    return Bounded


def _family(metric: Metric) -> Family:
    names = list(metric.labels)
    match metric.kind:
        case Kind.GAUGE:
            gauge = GaugeMetricFamily(metric.name, metric.help, labels=names)
            for sample in metric.samples:
                gauge.add_metric([sample.labels[name] for name in names], sample.value)
            return gauge
        case Kind.COUNTER:
            counter = CounterMetricFamily(metric.name, metric.help, labels=names)
            for sample in metric.samples:
                counter.add_metric([sample.labels[name] for name in names], sample.value)
            return counter
        case Kind.STATE_SET:
            states = StateSetMetricFamily(metric.name, metric.help, labels=names)
            for sample in metric.samples:
                values = {state: state == sample.state for state in metric.states}
                states.add_metric([sample.labels[name] for name in names], values)
            return states
