"""Port entries of both syntaxes, against what compose makes of them."""

import pytest

from netdiag.compose.positions import literal
from netdiag.compose.service import PortError, is_ip, parse_port
from tests.compose.tracing import cut, project

# entry -> (host_ip, published, target, protocol) of each port
SHORT = [
    ("80", [("", None, 80, "tcp")]),
    ("8080:80", [("", 8080, 80, "tcp")]),
    ("8080:80/udp", [("", 8080, 80, "udp")]),
    ("8080:80/TCP", [("", 8080, 80, "tcp")]),
    ("80/sctp", [("", None, 80, "sctp")]),
    ("127.0.0.1:8080:80", [("127.0.0.1", 8080, 80, "tcp")]),
    ("127.0.0.1::80", [("127.0.0.1", None, 80, "tcp")]),
    ("0.0.0.0:9092:9092", [("0.0.0.0", 9092, 9092, "tcp")]),
    ("[::1]:8080:80", [("::1", 8080, 80, "tcp")]),
    ("::1:8080:80", [("::1", 8080, 80, "tcp")]),
    ("[::]:8080:80/udp", [("::", 8080, 80, "udp")]),
    ("[::1]::80", [("::1", None, 80, "tcp")]),
    (":80", [("", None, 80, "tcp")]),
    ("::80", [("", None, 80, "tcp")]),
    ("3000-3002", [("", None, 3000, "tcp"), ("", None, 3001, "tcp"), ("", None, 3002, "tcp")]),
    ("3000-3001:4000-4001", [("", 3000, 4000, "tcp"), ("", 3001, 4001, "tcp")]),
    ("8000-9000:80", [("", None, 80, "tcp")]),
    (
        "127.0.0.1:5000-5001:6000-6001/udp",
        [("127.0.0.1", 5000, 6000, "udp"), ("127.0.0.1", 5001, 6001, "udp")],
    ),
    ("65535:65535", [("", 65535, 65535, "tcp")]),
    ("0:80", [("", None, 80, "tcp")]),
    ("80-81-82", [("", None, 80, "tcp"), ("", None, 81, "tcp")]),
]

# entry -> the characters that are wrong
WRONG = [
    ("", ""),
    (":", ":"),
    ("8080:", "8080:"),
    ("x", "x"),
    ("80x", "80x"),
    ("x:80", "x"),
    ("65536", "65536"),
    ("8080:65536", "65536"),
    ("80/http", "http"),
    ("80/tcp/udp", "tcp/udp"),
    ("localhost:80:80", "localhost"),
    ("256.0.0.1:80:80", "256.0.0.1"),
    ("1:2:3", "1"),
    ("1:2:3:4", "1:2"),
    ("[::1:80:80", "[::1"),
    ("3000-2999:80", "3000-2999"),
    ("3000-3002:80-81", "3000-3002:80-81"),
    ("0", "0"),
    ("1:0", "0"),
    ("80 :80", "80 "),
    ("-80", "-80"),
    ("٨٠", "٨٠"),
]


@pytest.mark.parametrize(("entry", "ports"), SHORT)
def test_the_short_syntax(entry: str, ports: list[tuple[str, int | None, int, str]]) -> None:
    found = parse_port(literal(entry))
    assert [(p.host_ip, p.published, p.target, p.protocol) for p in found] == ports
    for port in found:
        assert port.ephemeral == (port.published is None)
        assert port.target_span is not None
        assert str(ports[0][2]) in cut(entry.encode(), port.target_span)
        if port.host_ip:
            assert port.host_ip_span is not None
            assert port.host_ip in cut(entry.encode(), port.host_ip_span)
        if port.published is not None:
            assert port.published_span is not None
            assert str(found[0].published) in cut(entry.encode(), port.published_span)


@pytest.mark.parametrize(("entry", "characters"), WRONG)
def test_what_compose_refuses(entry: str, characters: str) -> None:
    with pytest.raises(PortError) as caught:
        parse_port(literal(entry))
    assert entry[caught.value.start : caught.value.end] == characters


# entry of the long syntax -> (host_ip, published, range, target, protocol) or None when refused, the short form
LONG = [
    ("{target: 80}", ("", None, None, 80, "tcp"), "80"),
    ("{target: 80, published: 8080}", ("", 8080, None, 80, "tcp"), "8080:80"),
    ("{target: '80', published: '8080', protocol: udp}", ("", 8080, None, 80, "udp"), "8080:80/udp"),
    ("{target: 80, published: '8000-9000'}", ("", None, (8000, 9000), 80, "tcp"), "8000-9000:80"),
    ("{target: 80, published: 1, host_ip: 127.0.0.1}", ("127.0.0.1", 1, None, 80, "tcp"), "127.0.0.1:1:80"),
    ("{target: 80, host_ip: '::1'}", ("::1", None, None, 80, "tcp"), "[::1]::80"),
    ("{published: 80}", None, ""),
    ("{target: x}", None, ""),
    ("{target: 80, published: x}", None, ""),
    ("{target: 80, host_ip: localhost}", None, ""),
    ("[80]", None, ""),
]


@pytest.mark.parametrize(("entry", "port", "short"), LONG)
def test_the_long_syntax(entry: str, port: tuple[object, ...] | None, short: str) -> None:
    yaml = f"services: {{a: {{image: x, ports: [{entry}]}}}}"
    loaded = project(yaml)
    found = loaded.services["a"].ports
    made = [(p.host_ip, p.published, p.published_range, p.target, p.protocol) for p in found]
    assert made == ([] if port is None else [port])
    assert bool(loaded.errors) == (port is None)
    for each in found:
        assert each.text.value == short
        assert cut(yaml.encode(), each.text.span) == entry
        assert each.text.edit_span(0, 1) is None
        assert each.target_span is not None
        assert cut(yaml.encode(), each.target_span) == "80"


def test_numbers_strings_and_variables_of_a_list() -> None:
    yaml = "services: {a: {image: x, ports: [80, '1:2', '${P:-3}:4', 80, 0:5]}}"
    found = project(yaml, environ={"P": "5"}).services["a"].ports
    assert [(p.published, p.target) for p in found] == [(None, 80), (1, 2), (5, 4), (None, 5)]
    assert found[2].published_span is not None
    assert cut(yaml.encode(), found[2].published_span) == "${P:-3}"


ADDRESSES = {
    "1.2.3.4": True, "0.0.0.0": True, "01.2.3.4": False, "1.2.3": False, "1.2.3.4.5": False, "": False,
    "::": True, "::1": True, "fe80::1": True, "1:2:3:4:5:6:7:8": True, "1:2:3:4:5:6:7": False, "1::2::3": False,
    "::ffff:1.2.3.4": True, "12345::": False, "g::": False, "1:2:3:4:5:6:7::8": False, ":": False,
}  # fmt: skip


@pytest.mark.parametrize(("address", "right"), ADDRESSES.items())
def test_addresses(address: str, right: bool) -> None:
    assert is_ip(address) == right
