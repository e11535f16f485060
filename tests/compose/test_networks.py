"""Networks of a project and of its services."""

import pytest

from netdiag.compose.project import Network
from tests.compose.tracing import cut, project


def network(fields: str) -> Network:
    return project(f"services: {{a: {{image: x}}}}\nnetworks: {{n: {fields}}}").networks["n"]


# fields -> name, external, internal, driver
NETWORKS = [
    ("", "p_n", False, False, None),
    ("{}", "p_n", False, False, None),
    ("{name: m}", "m", False, False, None),
    ("{external: true}", "n", True, False, None),
    ("{external: 'true', name: m}", "m", True, False, None),
    ("{external: {name: m}}", "m", True, False, None),
    ("{external: false}", "p_n", False, False, None),
    ("{internal: true, driver: macvlan}", "p_n", False, True, "macvlan"),
    ("{internal: '${X:-yes}'}", "p_n", False, True, None),
]


@pytest.mark.parametrize(("fields", "name", "external", "internal", "driver"), NETWORKS)
def test_a_network(fields: str, name: str, external: bool, internal: bool, driver: str | None) -> None:
    found = network(fields)
    assert (found.name, found.external, found.internal) == (name, external, internal)
    assert (None if found.driver is None else found.driver.value) == driver


def test_address_pools_and_options() -> None:
    found = network(
        "{ipam: {config: [{subnet: 10.0.0.0/8, gateway: 10.0.0.1}, {subnet: 'fd00::/8'}]}, driver_opts: {o: 1}}"
    )
    assert [subnet.value for subnet in found.subnets] == ["10.0.0.0/8", "fd00::/8"]
    assert found.gateway is not None
    assert found.gateway.value == "10.0.0.1"
    assert {key: text.value for key, text in found.driver_opts.items()} == {"o": "1"}


# fields of the service -> networks it is on
ATTACHED: list[tuple[str, list[str]]] = [
    ("hostname: h", ["default"]),
    ("networks: {}", ["default"]),
    ("networks: []", ["default"]),
    ("networks: [n]", ["n"]),
    ("networks: {n: , m: {}}", ["n", "m"]),
    ("network_mode: host", []),
    ("network_mode: host, networks: [n]", ["n"]),
]


@pytest.mark.parametrize(("fields", "names"), ATTACHED)
def test_what_a_service_is_on(fields: str, names: list[str]) -> None:
    yaml = f"services: {{a: {{image: x, {fields}}}}}\nnetworks: {{n: , m: }}"
    loaded = project(yaml)
    assert [attached.network for attached in loaded.services["a"].networks] == names
    assert ("default" in loaded.networks) == (names == ["default"])
    for attached in loaded.services["a"].networks:
        assert cut(yaml.encode(), attached.span) == ("a" if attached.network == "default" else attached.network)


def test_an_attachment() -> None:
    fields = "aliases: [b, c], ipv4_address: 10.0.0.5, ipv6_address: '::5', priority: 7"
    yaml = f"services: {{a: {{image: x, networks: {{n: {{{fields}}}}}}}}}"
    (attached,) = project(yaml).services["a"].networks
    assert [alias.value for alias in attached.aliases] == ["b", "c"]
    assert (str(attached.ipv4_address), str(attached.ipv6_address), attached.priority) == ("10.0.0.5", "::5", 7)
    assert cut(yaml.encode(), attached.aliases[1].span) == "c"


@pytest.mark.parametrize(
    ("yaml", "code"),
    [
        ("networks: {n: [a]}", "schema"),
        ("networks: {n: {ipam: {config: [a]}}}", "schema"),
        ("networks: {n: {internal: maybe}}", "schema"),
        ("networks: {n: {name: m, external: {name: o}}}", "external-name"),
        ("networks: {n: {drivers: m}}", "schema"),
        ("networks: [n]", "schema"),
    ],
)
def test_what_compose_refuses(yaml: str, code: str) -> None:
    assert [p.code for p in project(f"services: {{a: {{image: x}}}}\n{yaml}").errors] == [code]
