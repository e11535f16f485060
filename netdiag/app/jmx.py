"""Follow JMX clients through both hops: the registry, then the RMI server at the host and port that it names."""

from dataclasses import replace

from netdiag.app.progress import SILENT, Listener
from netdiag.deployment.model.jmx import JmxCell
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.observation.live_view import LiveVantage, SkippedVantage
from netdiag.errors import InputError
from netdiag.io.extras import require_live
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class JmxOptions:
    """Which registries to ask, and from where.

    Without `registries`, those of the running brokers; without `place`, from the docker host and every container.
    `timeout` is seconds for each hop.
    """

    registries: tuple[Address, ...] = ()
    place: str | None = None
    timeout: float = 4.0
    host: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JmxReport:
    """The cells, predicted and observed, and what else to know. `is_one_place`: from the one that was asked for."""

    cells: tuple[JmxCell, ...]
    is_one_place: bool
    skipped: tuple[SkippedVantage, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        """Whether JMX works: from the place asked for; else wherever a registry answers."""
        seen = [cell.observed for cell in self.cells if cell.observed is not None]
        if self.is_one_place:
            return all(verdict.usable for verdict in seen)
        return not any(str(verdict).startswith("stub:") for verdict in seen)

    @property
    def is_unknown(self) -> bool:
        """Whether nobody can tell, because all that does not work is unknown (TLS)."""
        seen = [cell.observed for cell in self.cells if cell.observed is not None]
        return not self.works and all(verdict.usable or str(verdict) == "unknown" for verdict in seen)


def follow_jmx(options: JmxOptions, listener: Listener = SILENT) -> JmxReport:
    """Ask registries and RMI servers; nothing else is contacted, and nothing is created."""
    require_live("jmx")
    from netdiag.app.reports import distinct, too_large
    from netdiag.deployment.prediction.jmx import jmx_addresses, predict_jmx
    from netdiag.io.engine.live_deployment import read_live
    from netdiag.io.engine.probe_vantage import probe_vantage
    from netdiag.io.network.jmx import observe_jmx

    live = None
    if options.place is None or not options.registries:
        listener.detail("asking the engine")
        live = read_live(host=options.host)
    registries = options.registries or (jmx_addresses(live.deployment) if live is not None else ())
    if not registries:
        raise InputError("no variable of a running broker sets a JMX port", hint="name it: netdiag jmx HOST:PORT")
    if options.place is not None:
        at = probe_vantage(options.place, host=options.host)
        standing = Vantage(kind=VantageKind.DOCKER_HOST, label=at.place)
        seen = observe_jmx([LiveVantage(vantage=standing, entrance=at.entrance)], registries, timeout=options.timeout)
        return JmxReport(cells=seen.cells, is_one_place=True, skipped=seen.skipped, notes=seen.notes)
    assert live is not None
    note = too_large("JMX", live.vantages, registries)
    if note:
        raise InputError(note, hint="name fewer addresses")
    seen = observe_jmx(live.vantages, registries, timeout=options.timeout)
    places = distinct(each.vantage for each in live.vantages)
    predicted = predict_jmx(live.deployment.with_down(live.stopped), places, registries)
    observed = {(cell.vantage, cell.registry): cell.observed for cell in seen.cells}
    cells = tuple(replace(cell, observed=observed.get((cell.vantage, cell.registry))) for cell in predicted)
    return JmxReport(cells=cells, is_one_place=False, skipped=(*live.skipped, *seen.skipped), notes=seen.notes)
