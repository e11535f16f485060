"""What the ends of a connection are called."""

from netdiag.traffic.places import NOBODY, Named, Places

PLACES = Places(
    hosts={"172.18.0.2": "broker-1", "172.18.0.9": "app", "fe80::1": "v6"},
    ports={"172.18.0.2:9092": ("broker-1", "INTERNAL"), "192.168.8.133:19092": ("broker-1", None)},
)


def test_ports_say_more_than_hosts() -> None:
    assert PLACES.name("172.18.0.9:40000", "172.18.0.2:9092") == Named("app", "broker-1", "INTERNAL")
    assert PLACES.name("172.18.0.9:40000", "172.18.0.2:1") == Named("app", "broker-1", None)
    assert PLACES.name("[fe80::1]:5", "192.168.8.133:19092") == Named("v6", "broker-1", None)


def test_who_nobody_knows() -> None:
    assert PLACES.name("10.0.0.1:1", "10.0.0.2:2") == NOBODY
    assert Places().name("172.18.0.9:40000", "172.18.0.2:9092") == NOBODY
