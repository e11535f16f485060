"""What happens to a connection at a vantage: the model of loopback, bridges, publishing and isolation.

Rows of the decision table in docs/reachability.md stand beside what they are about: `ways` between a client and a
container's address, `publishing` on the docker host, `sockets` of a container. What the table does not cover is
`Unmodelled`, never a guess.
"""

from typing import assert_never

from netdiag.deployment.mechanism import Mechanism
from netdiag.deployment.member import Deployment
from netdiag.deployment.naming import (
    Family,
    HostAddress,
    Loopback,
    MemberAddress,
    OutsideAddress,
    Target,
    Unmodelled,
    VacantAddress,
    running,
)
from netdiag.deployment.platform import Generation
from netdiag.deployment.publishing import to_host, to_host_loopback
from netdiag.deployment.sockets import (
    Delivery,
    Landed,
    enter,
    enter_loopback,
    refused,
    timed_out,
)
from netdiag.deployment.standing import Ground, Standing, standing
from netdiag.deployment.vantage import Vantage
from netdiag.deployment.ways import end_at_vacant, end_outside, obstacle_to_member

__all__ = ["Delivery", "Landed", "deliver", "deliver_from"]


def deliver(deployment: Deployment, vantage: Vantage, target: Target, port: int, down: frozenset[str]) -> Delivery:
    """Where a connection from `vantage` to `target`:`port` ends."""
    return deliver_from(deployment, standing(deployment, vantage), target, port, down)


def deliver_from(deployment: Deployment, stand: Standing, target: Target, port: int, down: frozenset[str]) -> Delivery:
    """Where a connection from a namespace to `target`:`port` ends."""
    match target:
        case Loopback():
            return _to_loopback(deployment, stand, target.family, port, down)
        case MemberAddress():
            return _to_member(deployment, stand, target, port, down)
        case HostAddress():
            return to_host(deployment, stand, target, port, down)
        case VacantAddress():
            return end_at_vacant(deployment, stand, target)
        case OutsideAddress():
            return end_outside(deployment, stand, target)
        case _:
            assert_never(target)


def _to_loopback(deployment: Deployment, stand: Standing, family: Family, port: int, down: frozenset[str]) -> Delivery:
    if stand.ground in (Ground.DOCKER_HOST, Ground.USER_MACHINE):
        return to_host_loopback(deployment, stand, port, down, family)
    owner = stand.owner
    if owner is None:
        who = "the LAN machine" if stand.ground is Ground.LAN else "the client container"
        return refused(Mechanism.OWN_LOOPBACK, f"localhost is {who} itself")
    if stand.ground is Ground.UNKNOWN:
        return Unmodelled(because="whose network the client uses cannot be told")
    if family is Family.IPV6 and not any(network.ipv6 for network in stand.networks):
        match deployment.platform.generation:
            case Generation.V20:
                return Unmodelled(because="there is no IPv6 in this container, not even ::1: not tried")
            case None:
                return Unmodelled(because="whether a container without IPv6 networks has ::1 depends on the engine")
    return enter_loopback(deployment, owner, port, down, family)


def _to_member(
    deployment: Deployment, stand: Standing, target: MemberAddress, port: int, down: frozenset[str]
) -> Delivery:
    member = deployment.by_name[target.member]
    blocked = obstacle_to_member(deployment, stand, target, port)
    if blocked is not None:
        return blocked
    if not running(member, down):
        return timed_out(Mechanism.NOT_RUNNING, f"{member.name} is not running")
    return enter(deployment, member, target.network, port, down, six=target.six)
