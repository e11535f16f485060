"""`netdiag probe --matrix`: the addresses of a probe, and those they advertise, from every vantage of the engine."""

from typing import TYPE_CHECKING

from netdiag.app.matrix import distinct, observed_matrix, too_large
from netdiag.cli.console import Console
from netdiag.deployment.model.contact import Address
from netdiag.deployment.observation.probe import ProbeReport
from netdiag.errors import InputError
from netdiag.render.report import Matrix

if TYPE_CHECKING:
    from netdiag.io.client_identity import Client

_STEP = 4.0


def matrix_of(
    story: ProbeReport, console: Console, *, host: str | None, timeout: float, client: "Client | None" = None
) -> tuple[Matrix, tuple[str, ...]]:
    """The matrix, predicted and observed, and what else to know; only what the user named, and what that names."""
    from netdiag.io.live import look
    from netdiag.io.observe import observe

    console.detail("asking the engine")
    seen = look(host=host)
    addresses = addresses_of(story)
    name = ", ".join(str(one.dialogue.address) for one in story.bootstraps)
    note = too_large(name, seen.stances, addresses)
    if note:
        raise InputError(note, hint="name fewer addresses")
    observed = observe(seen.stances, addresses, timeout=min(_STEP, timeout), client=client)
    skipped = (*seen.skipped, *observed.skipped)
    found = observed_matrix(
        name,
        seen.deployment,
        distinct((*(stance.vantage for stance in seen.stances), *(item.vantage for item in skipped))),
        addresses,
        observed.cells,
        stopped={member: str(reason) for member, reason in seen.stopped.items()},
        speaks=story.speaks,
    )
    notes = (*(f"{item.vantage.label} could not be taken: {item.because}" for item in skipped), *observed.notes)
    return found, notes


def addresses_of(story: ProbeReport) -> tuple[Address, ...]:
    """The addresses that were named, then those that their answers name."""
    named = [one.dialogue.address for one in story.bootstraps]
    told = [outcome.endpoint.address for one in story.bootstraps for outcome in one.verdict.endpoints]
    return tuple(dict.fromkeys((*named, *told)))
