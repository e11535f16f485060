"""What a live check saw of a deployment, for rules to judge."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from netdiag.deployment.member import Deployment
from netdiag.deployment.verdict import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveView:
    """A running deployment and what was seen of it.

    `stopped` tells by member name why a broker does not run, in one line. `cells` carry prediction and
    observation. `ports` are the TCP ports that listen in a member's namespace, for those that could be read.
    """

    deployment: Deployment
    stopped: Mapping[str, str] = field(default_factory=dict)
    cells: tuple[Cell, ...] = ()
    ports: Mapping[str, frozenset[int]] = field(default_factory=dict)
