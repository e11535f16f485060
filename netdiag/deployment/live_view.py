"""What a live check saw of a deployment, for rules to judge."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from netdiag.deployment.as_declared import AsDeclared
from netdiag.deployment.member import Deployment
from netdiag.deployment.mesh import Mesh
from netdiag.deployment.observations import Address
from netdiag.deployment.vantage import Vantage
from netdiag.deployment.verdict import Cell
from netdiag.kafka.security import SecuritySight


@dataclass(frozen=True, slots=True, kw_only=True)
class SecuredPort:
    """What one address told about its security when it was asked from one vantage (its label).

    `member` and `listener` are the broker's that is meant, "" where nobody shown is. The name asked for is the host
    of `address`: one port is seen as often as hosts are advertised for it.
    """

    vantage: str
    address: Address
    member: str = ""
    listener: str = ""
    sight: SecuritySight


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveView:
    """A running deployment and what was seen of it.

    `stopped` tells by member name why a broker does not run, in one line, `logs` the last lines of the log of such a
    one, oldest first. `cells` carry prediction and observation, `vantages` are the places that they were seen from.
    `ports` are the TCP ports that listen in a member's namespace, for those that could be read. `security` and `mesh`
    are empty where nobody looked. `declared` is what the files say that the deployment was started from.
    """

    deployment: Deployment
    stopped: Mapping[str, str] = field(default_factory=dict)
    logs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cells: tuple[Cell, ...] = ()
    vantages: tuple[Vantage, ...] = ()
    ports: Mapping[str, frozenset[int]] = field(default_factory=dict)
    security: tuple[SecuredPort, ...] = ()
    mesh: Mesh | None = None
    declared: AsDeclared | None = None
