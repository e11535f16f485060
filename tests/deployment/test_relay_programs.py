"""Where the command lines and configuration files of relays lead, and that hostile ones lead nowhere."""

import json
import time

import pytest

from netdiag.compose.positions import Source
from netdiag.deployment.sources.relay_programs import (
    LARGEST_TEXT,
    MOST,
    Forwarding,
    configuration_file,
    forwardings_in_command,
    forwardings_in_file,
)


def said(found: tuple[Forwarding, ...], text: str | list[str] = "") -> list[str]:
    """Each as a line; the target as the text has it at the place given."""
    lines = []
    for one in found:
        through = f" through {one.through}" if one.through else ""
        for target in one.targets:
            written = text if isinstance(text, str) else text[target.word]
            at = written[target.start : target.end]
            lines.append(f"{one.host or '*'}:{one.port} > {target.host}:{target.port} ({at}){through}")
    return lines


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("socat TCP-LISTEN:9092,fork TCP:kafka:29092", ["*:9092 > kafka:29092 (kafka:29092)"]),
        ("/usr/bin/socat -d tcp4-l:9092,bind=127.0.0.1 tcp-connect:k:1", ["127.0.0.1:9092 > k:1 (k:1)"]),
        ("socat TCP6-LISTEN:9092,bind=[::1],fork TCP6:[fd00::2]:9092", ["::1:9092 > fd00::2:9092 ([fd00::2]:9092)"]),
        ("socat TCP-LISTEN:9092 EXEC:/bin/sh", []),
        ("socat UDP-LISTEN:9092 TCP:kafka:9092", []),
        ("socat TCP-LISTEN:99999 TCP:kafka:9092", []),
        ("ssh -N -L 0.0.0.0:9092:kafka:29092 me@bastion", ["*:9092 > kafka:29092 (kafka:29092) through bastion"]),
        ("ssh -NL 9092:kafka:29092 bastion", ["127.0.0.1:9092 > kafka:29092 (kafka:29092) through bastion"]),
        ("ssh -gL9092:kafka:29092 -p 2222 ssh://me@bastion:22", ["*:9092 > kafka:29092 (kafka:29092) through bastion"]),
        ("autossh -M 0 -o GatewayPorts=yes -L 9092:[::1]:1 b", ["*:9092 > ::1:1 ([::1]:1) through b"]),
        ("ssh -L *:9092:kafka:1 b ls -L 1:x:2", ["*:9092 > kafka:1 (kafka:1) through b"]),
        ("ssh -L 9092:kafka:29092", []),
        ("ssh -R 9092:kafka:29092 bastion", []),
        ("kubectl -n x port-forward svc/kafka 9092:29092", ["127.0.0.1:9092 > localhost:29092 (29092) through kafka"]),
        ("kubectl port-forward --address 0.0.0.0 kafka-0 9092", ["*:9092 > localhost:9092 (9092) through kafka-0"]),
        ("kubectl port-forward --address=localhost pod/k 1:2", ["127.0.0.1:1 > localhost:2 (2) through k"]),
        ("kubectl get pods", []),
        ("sleep infinity", []),
    ],
)
def test_a_command_line(command: str, expected: list[str]) -> None:
    words = command.split()
    assert said(forwardings_in_command(words), words) == expected


def test_an_image_whose_entry_point_is_the_relay() -> None:
    words = ["TCP-LISTEN:9092,fork", "TCP:kafka:29092"]
    assert said(forwardings_in_command(words, "docker.io/alpine/socat:1.8.0.3"), words)
    assert not forwardings_in_command(words, "alpine:3.22")


@pytest.mark.parametrize(
    ("words", "image", "expected"),
    [
        ("haproxy -W -db -f /etc/h.cfg", "", ("HAProxy", "/etc/h.cfg")),
        ("", "haproxy:3.0", ("HAProxy", "/usr/local/etc/haproxy/haproxy.cfg")),
        ("nginx -g daemon", "", ("nginx", "/etc/nginx/nginx.conf")),
        ("", "nginx", ("nginx", "/etc/nginx/nginx.conf")),
        ("--config-path=/e.yaml", "envoyproxy/envoy:v1.35.0", ("Envoy", "/e.yaml")),
        ("-config /t.json", "ghcr.io/shopify/toxiproxy:2.12.0", ("toxiproxy", "/t.json")),
        ("haproxy -f", "", ("HAProxy", "")),
        ("redis-server", "redis:8", None),
    ],
)
def test_the_file_that_a_relay_reads(words: str, image: str, expected: tuple[str, str] | None) -> None:
    found = configuration_file(words.split(), image)
    assert (None if found is None else (found.program, found.path)) == expected


HAPROXY = """\
global
  log stdout format raw local0
defaults
  mode tcp
frontend f
  bind 127.0.0.1:9092,:9093  # two
  bind :9443 ssl crt /etc/cert.pem
  default_backend b
frontend web
  mode http
  bind :80
  default_backend b
backend b
  server one "kafka-1:29092" check
  server two kafka-2:29092 backup
  server three $KAFKA:9092
listen l
  bind *:9094
  server k [fd00::1]:9092
"""
NGINX = """\
events {}
http { server { listen 80; } }
stream {
  upstream k { server kafka-1:29092; server kafka-2:29092 down; server unix:/x; }  # comment; }
  server { listen 9092; proxy_pass k; }
  server { listen 127.0.0.1:9093; proxy_pass "kafka:1"; }
  server { listen 53 udp; proxy_pass dns:53; }
  server { listen 9443 ssl; proxy_pass k; }
  server { listen 9095; proxy_pass $name; }
"""
ENVOY = """\
static_resources:
  listeners:
  - address: &a {socket_address: {address: 0.0.0.0, port_value: 9092}}
    filter_chains:
    - filters:
      - {name: envoy.filters.network.kafka_broker, typed_config: {stat_prefix: k}}
      - {name: envoy.filters.network.tcp_proxy, typed_config: {cluster: c}}
  - address: *a
    filter_chains: [{filters: [{name: envoy.filters.network.http_connection_manager}]}]
  - address: {socket_address: {address: 0.0.0.0, port_value: 9443}}
    filter_chains:
    - transport_socket: {name: envoy.transport_sockets.tls}
      filters: [{name: envoy.filters.network.tcp_proxy, typed_config: {cluster: c}}]
  clusters:
  - name: c
    load_assignment:
      endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: kafka, port_value: 29092}}}}]}]
"""
TOXIPROXY = (
    '[{"name": "k", "listen": "[::]:9092", "upstream": "kafka:29092", "enabled": true},'
    ' {"name": "off", "listen": ":9093", "upstream": "kafka:29092", "enabled": false}, 7]'
)


@pytest.mark.parametrize(
    ("program", "text", "expected"),
    [
        (
            "HAProxy",
            HAPROXY,
            [
                "127.0.0.1:9092 > kafka-1:29092 (kafka-1:29092)",
                "*:9093 > kafka-1:29092 (kafka-1:29092)",
                "*:9094 > fd00::1:9092 ([fd00::1]:9092)",
            ],
        ),
        ("nginx", NGINX, ["*:9092 > kafka-1:29092 (kafka-1:29092)", "127.0.0.1:9093 > kafka:1 (kafka:1)"]),
        ("Envoy", ENVOY, ["*:9092 > kafka:29092 (29092)"]),
        ("toxiproxy", TOXIPROXY, ["*:9092 > kafka:29092 (kafka:29092)"]),
    ],
)
def test_a_configuration_file(program: str, text: str, expected: list[str]) -> None:
    assert said(forwardings_in_file(program, Source("f", text)), text) == expected


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("HAProxy", "backend b\n" + "server s k:1\n" * 3000 + "frontend f\nbind :1\ndefault_backend b\n" * 500),
        ("HAProxy", '"' * 60_000),
        ("nginx", "a{" * 30_000),
        ("nginx", "stream{" + "server{listen 1;proxy_pass k:1;}" * 1900),
        ("nginx", "'" * 60_000),
        ("Envoy", "[" * 60_000),
        ("toxiproxy", json.dumps([{"listen": ":1", "upstream": "k:1"}] * 1700)),
        ("Envoy", "\xff\x00{"),
        ("HAProxy", " " * (LARGEST_TEXT + 1)),
    ],
)
def test_a_hostile_file_is_bounded(program: str, text: str) -> None:
    began = time.process_time()
    found = forwardings_in_file(program, Source("f", text.encode("latin-1")))
    assert len(found) <= MOST
    assert all(len(one.targets) <= MOST for one in found)
    assert time.process_time() - began < 5
