"""What a live check saw, as a value."""

from netdiag.deployment.observation.live_view import LiveView
from tests.deployment.stacks import deployment_of, five_brokers


def test_nothing_seen_is_nothing_wrong() -> None:
    view = LiveView(deployment=deployment_of(five_brokers()))
    assert (view.stopped, view.cells, view.ports) == ({}, (), {})


def test_nobody_looked_for_security_nor_the_mesh() -> None:
    view = LiveView(deployment=deployment_of(five_brokers()))
    assert (view.security, view.mesh, view.declared, view.logs, view.vantages) == ((), None, None, {}, ())
