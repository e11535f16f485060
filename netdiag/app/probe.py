"""Probe brokers as one client would meet them, step by step, from one place or from every vantage of the engine."""

from dataclasses import replace
from typing import TYPE_CHECKING

from netdiag.app.progress import SILENT, Listener
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.observation.probe import ProbeReport
from netdiag.errors import InputError
from netdiag.io.extras import require_live
from netdiag.render.report import Matrix
from netdiag.values import dataclass

if TYPE_CHECKING:
    from netdiag.io.network.client_identity import Client

# Seconds that one step of the matrix may take.
_STEP = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOptions:
    """Which brokers to speak with, and from where: `host`, a container's name, container:NAME, netns:NAME or pid:N.

    `timeout` is for everything together, in seconds; `group` is the consumer group whose coordinator is asked for.
    """

    bootstraps: tuple[Address, ...]
    place: str = "host"
    timeout: float = 10.0
    group: str = "netdiag"
    client_properties: str | None = None
    matrix: bool = False
    host: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """What the client met, and what the same addresses give everywhere, where that was asked for."""

    report: ProbeReport
    matrix: Matrix | None = None


def probe(options: ProbeOptions, listener: Listener = SILENT) -> ProbeResult:
    """Speak with the brokers; nobody else is contacted than those and what they advertise, and nothing is created."""
    require_live("probe")
    from netdiag.io.engine.probe_vantage import probe_vantage
    from netdiag.io.network.client_identity import read_client
    from netdiag.io.network.probe import Question
    from netdiag.io.network.probe import probe as ask

    client = None if options.client_properties is None else read_client(options.client_properties)
    place = probe_vantage(options.place, host=options.host)
    listener.detail(f"standing at {place.place}")
    question = Question(bootstraps=options.bootstraps, group=options.group, timeout=options.timeout, client=client)
    report = ask(place.place, place.entrance, question)
    if not options.matrix:
        return ProbeResult(report=report)
    matrix, notes = _matrix(report, options, client, listener)
    return ProbeResult(report=replace(report, notes=(*report.notes, *notes)), matrix=matrix)


def named_and_advertised(report: ProbeReport) -> tuple[Address, ...]:
    """The addresses that were named, then those that their answers name."""
    named = [one.dialogue.address for one in report.bootstraps]
    advertised = [outcome.endpoint.address for one in report.bootstraps for outcome in one.verdict.endpoints]
    return tuple(dict.fromkeys((*named, *advertised)))


def _matrix(
    report: ProbeReport, options: ProbeOptions, client: "Client | None", listener: Listener
) -> tuple[Matrix, tuple[str, ...]]:
    """The matrix, predicted and observed, and what else to know."""
    from netdiag.app.matrix import observed_matrix
    from netdiag.app.reports import distinct, too_large
    from netdiag.io.engine.live_deployment import read_live
    from netdiag.io.network.observation import observe

    listener.detail("asking the engine")
    seen = read_live(host=options.host)
    addresses = named_and_advertised(report)
    name = ", ".join(str(one.dialogue.address) for one in report.bootstraps)
    note = too_large(name, seen.vantages, addresses)
    if note:
        raise InputError(note, hint="name fewer addresses")
    observed = observe(seen.vantages, addresses, timeout=min(_STEP, options.timeout), client=client)
    skipped = (*seen.skipped, *observed.skipped)
    matrix = observed_matrix(
        name,
        seen.deployment,
        distinct((*(each.vantage for each in seen.vantages), *(item.vantage for item in skipped))),
        addresses,
        observed.cells,
        stopped={member: str(reason) for member, reason in seen.stopped.items()},
        speaks=report.speaks,
    )
    notes = (*(f"{item.vantage.label} could not be taken: {item.because}" for item in skipped), *observed.notes)
    return matrix, notes
