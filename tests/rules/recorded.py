"""Observations for tests: recorded under `x-observed` of a compose file."""

from ruamel.yaml import YAML

from netdiag.deployment.live_view import LiveView
from netdiag.deployment.observations import Address, Unknown
from netdiag.deployment.verdict import Cell, Verdict, Word
from tests.deployment.stacks import deployment_of


def view_of(text: str) -> LiveView:
    """The deployment of the file with what its `x-observed` says was seen."""
    observed = YAML(typ="safe", pure=True).load(text).get("x-observed") or {}
    return LiveView(
        deployment=deployment_of(text),
        stopped=observed.get("stopped") or {},
        ports={member: frozenset(ports) for member, ports in (observed.get("ports") or {}).items()},
        cells=tuple(_cell(**cell) for cell in observed.get("cells") or ()),
    )


def _cell(vantage: str, bootstrap: str, predicted: str, observed: str) -> Cell:
    host, _, port = bootstrap.rpartition(":")
    address = Address(host=host, port=int(port))
    return Cell(vantage=vantage, bootstrap=address, predicted=_verdict(predicted), observed=_verdict(observed))


def _verdict(text: str) -> Verdict:
    word, _, reason = text.partition(": ")
    return Verdict(word=Word(word), reason=reason or None, bootstrap=Unknown(because="recorded"))
