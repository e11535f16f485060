"""Where connections end: rows of the decision table that are about delivery alone."""

from dataclasses import replace

import pytest

from netdiag.deployment.model.contact import Failed, Reason
from netdiag.deployment.model.platform import Platform
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.prediction.client_namespace import HostAddress, Loopback, MemberAddress, Target, Unmodelled
from netdiag.deployment.prediction.connection import connect
from netdiag.deployment.prediction.sockets import Accepted
from tests.deployment.stacks import deployment_of, five_brokers

NOBODY: frozenset[str] = frozenset()
H = Vantage(kind=VantageKind.DOCKER_HOST, label="H")
L = Vantage(kind=VantageKind.LAN, label="L")
C = Vantage(kind=VantageKind.CONTAINER, label="C", networks=("kafka",))
OTHER = Vantage(kind=VantageKind.OTHER_NETWORK, label="O")
HOST = HostAddress(text="<docker-host>")
B1 = MemberAddress(member="broker-1", network="kafka")


def end(vantage: Vantage, target: Target, port: int, *, proxy: bool | None = None, bind: str = "0.0.0.0") -> object:
    deployment = replace(deployment_of(five_brokers(external=bind)), platform=Platform(userland_proxy=proxy))
    delivery = connect(deployment, vantage, target, port, NOBODY)
    match delivery:
        case Accepted():
            return (delivery.broker.name, delivery.entry.endpoint.listener)
        case Failed():
            assert delivery.because
            return delivery.reason
        case Unmodelled():
            assert delivery.because
            return "unknown"


@pytest.mark.parametrize(
    ("row", "vantage", "target", "port", "expected"),
    [
        (1, C, B1, 29092, ("broker-1", "INTERNAL")),
        (3, C, B1, 1, Reason.REFUSED),
        (8, OTHER, B1, 29092, Reason.TIMEOUT),
        (10, C, HOST, 9091, ("broker-1", "EXTERNAL")),
        (14, OTHER, HOST, 9091, ("broker-1", "EXTERNAL")),
        (17, C, Loopback(), 9091, Reason.REFUSED),
        (19, H, B1, 29092, ("broker-1", "INTERNAL")),
        (20, H, Loopback(), 9092, ("broker-2", "EXTERNAL")),
        (21, H, HOST, 9092, ("broker-2", "EXTERNAL")),
        (23, L, HOST, 9095, ("broker-5", "EXTERNAL")),
        (27, L, B1, 29092, "unknown"),
        (0, L, HOST, 29092, Reason.REFUSED),
    ],
)
def test_row(row: int, vantage: Vantage, target: Target, port: int, expected: object) -> None:
    assert end(vantage, target, port) == expected


@pytest.mark.parametrize(
    ("vantage", "target", "proxy", "expected"),
    [
        # row 20: through docker-proxy a dead port accepts first
        (H, Loopback(), True, Reason.CLOSED),
        (H, Loopback(), False, Reason.REFUSED),
        (H, HOST, True, Reason.REFUSED),
        (L, HOST, True, Reason.REFUSED),
        (C, HOST, True, Reason.CLOSED),
        (C, HOST, False, Reason.REFUSED),
        # row 2: bound to loopback inside, the container's address refuses
        (C, B1, True, Reason.REFUSED),
    ],
)
def test_a_listener_on_loopback(vantage: Vantage, target: Target, proxy: bool, expected: object) -> None:
    assert end(vantage, target, 9091, proxy=proxy, bind="127.0.0.1") == expected


def test_a_stopped_target_times_out() -> None:
    delivery = connect(deployment_of(five_brokers()), C, B1, 29092, frozenset({"broker-1"}))
    assert isinstance(delivery, Failed)
    assert delivery.reason is Reason.TIMEOUT
