"""Stances of a running deployment."""

from dataclasses import replace

from netdiag.deployment.model.vantage import VantageKind
from netdiag.deployment.observation.live_view import (
    container_vantages,
    docker_host_vantage,
    netns_vantage,
    unrelated_vantages,
)
from netdiag.deployment.sources.engine import from_engine
from netdiag.linux.netns import NamedNamespace, OwnNamespace, ProcessNamespace
from tests.deployment.test_from_engine import EXITED, NETWORKS, attached, container, network


def test_inside_each_running_container_brokers_first() -> None:
    ui = container("a-ui", image="ui", labels={}, state=replace(container().state, pid=8))
    far = container("far", image="ui", labels={}, networks=(attached("other"),), network_mode="other")
    gone = container("gone", labels={}, state=EXITED)
    containers = (ui, container(), far, gone)
    deployment = from_engine(containers, (*NETWORKS, network("other")))
    stances = container_vantages(deployment, containers)
    assert [(s.vantage.kind, s.vantage.label, s.vantage.member) for s in stances] == [
        (VantageKind.BROKER, "inside broker-1", "broker-1"),
        (VantageKind.CONTAINER, "container a-ui", "a-ui"),
        (VantageKind.OTHER_NETWORK, "container far", "far"),
    ]
    assert stances[1].entrance == ProcessNamespace(pid=8, container_id=ui.id)
    assert stances[2].vantage.networks == ("other",)


def test_containers_elsewhere_one_for_each_set_of_networks() -> None:
    alive = replace(container().state, pid=9)
    far = [container(f"far-{n}", labels={}, state=alive, networks=(attached("other"),)) for n in range(3)]
    default = container("plain", labels={}, state=alive, networks=(attached("bridge"),))
    hosted = container("hosted", labels={}, state=alive, networks=(attached("host"),))
    gone = container("gone", labels={}, state=EXITED, networks=(attached("third"),))
    stances = unrelated_vantages([*far, default, hosted, gone, container()], [container()])
    assert [(s.vantage.label, s.vantage.networks, s.vantage.member) for s in stances] == [
        ("container far-0", ("other",), None),
        ("container plain", ("bridge",), None),
    ]


def test_the_others() -> None:
    assert docker_host_vantage().entrance == OwnNamespace()
    assert netns_vantage("lan").entrance == NamedNamespace(name="lan")
    assert netns_vantage("lan").vantage.kind is VantageKind.LAN
