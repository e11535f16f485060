"""What would help, in the imperative."""

from netdiag.topology import remedies
from tests.topology.failing_cases import failing, shop


def test_attach_to_a_network_of_the_target() -> None:
    (remedy,) = remedies.attach(failing(shop(), "far", "172.20.0.2", 9092))
    assert (remedy.text, remedy.destination) == ("attach far to network shop, on which kafka-1 is", "172.20.0.2")
    assert remedy.change is not None
    assert not list(remedies.attach(failing(shop(), "far", "172.20.0.2", 9092), without="shop"))
    assert not list(remedies.attach(failing(shop(), "host", "172.20.0.2", 9092)))


def test_publish_or_dial_what_is_published() -> None:
    (dial,) = remedies.publish(failing(shop(), "host", "172.20.0.2", 9092))
    assert (dial.text, dial.port) == ("dial 192.168.8.133:9092, where kafka-1 publishes the port", 9092)
    (publish,) = remedies.publish(failing(shop(), "host", "172.20.0.3", 9093))
    assert publish.text.startswith("publish 9093:9093 of client")


def test_start() -> None:
    found = failing(shop(), "client", "gone", 9094)
    gone = next(one for one in found.topology.containers.values() if one.name == "gone")
    remedy = remedies.start(found, gone, 9094)
    assert (remedy.text, remedy.port) == ("start gone", 9094)
    assert remedy.destination.startswith("172.20.")


def test_instead_of_a_published_port() -> None:
    found = failing(shop(), "far", "192.168.8.133", 9092)
    texts = [remedy.text for remedy in remedies.beside_published(found)]
    assert "attach far to network shop and dial kafka-1:9092" in texts


def test_who_listens() -> None:
    found = failing(shop(), "client", "127.0.0.1", 9092)
    assert {one.name for one in remedies.containers_listening(found, 9092)} == {"kafka-1", "far"}
    assert remedies.host_address(found) == "192.168.8.133"
