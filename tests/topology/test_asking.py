"""Names as a namespace's own files and the engine tell them."""

from netdiag.topology.asking import Resolved, hosts_file, names_of
from tests.topology.five_brokers import five_brokers


def test_containers_on_one_network_know_each_other_and_the_host_knows_none() -> None:
    topology = five_brokers()
    ask = names_of(topology)
    client, host = topology.named("shop-client-1"), topology.named("host")
    assert client is not None
    assert host is not None
    assert ask(client.netns, "broker-1").addresses == ("172.18.0.2",)
    assert ask(client.netns, "localhost").addresses == ("127.0.0.1",)
    assert ask(host.netns, "broker-1") == Resolved(addresses=(), because=ask(host.netns, "broker-1").because)
    assert ask(host.netns, "broker.example.org").unknown


def test_a_hosts_file_that_was_read_counts_before_one_that_is_made_up() -> None:
    topology = five_brokers()
    client = topology.named("shop-client-1")
    assert client is not None
    assert "localhost" in hosts_file(topology, client.netns)
    ask = names_of(topology, {client.netns: "10.9.9.9 broker-1\n::1 six\n"})
    assert ask(client.netns, "broker-1") == Resolved(addresses=("10.9.9.9",), because="the hosts file")
    assert "no IPv6 here" in ask(client.netns, "six").because
