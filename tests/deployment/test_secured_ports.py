"""Whose ports were seen, and the names that nobody could ask for."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.model.contact import Address
from netdiag.deployment.model.vantage import vantages
from netdiag.deployment.observation.live_view import SecuredPort, secured_ports
from netdiag.deployment.sources.compose import from_compose
from netdiag.kafka.security import Certificate, CertificateFault, SecuritySight, Spoken, TlsSight

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DEPLOYMENT = from_compose(
    load(
        Source(
            "c.yml",
            """
services:
  kafka:
    image: apache/kafka:3.9.1
    ports: ["9094:9094"]
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
      KAFKA_LISTENERS: INTERNAL://:9092,SECURE://:9094,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:9092,SECURE://broker.example:9094
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,SECURE:SSL,CONTROLLER:PLAINTEXT
""",
        )
    )
)
CERTIFICATE = Certificate(
    subject="CN=kafka",
    issuer="CN=Root",
    common_name="kafka",
    names=("localhost",),
    addresses=(),
    not_before=NOW - timedelta(days=1),
    not_after=NOW + timedelta(days=5),
    key="RSA 2048",
    key_bits=2048,
    signature="sha256WithRSAEncryption",
    is_authority=False,
    fingerprint="0" * 64,
)
SOON = (CertificateFault.EXPIRES_SOON, "it expires")
TLS = TlsSight(
    versions=("TLSv1.3",), cipher="X", chain=(CERTIFICATE,), wants_client=False, needs_client=False, faults=(SOON,)
)
SEEN = SecuredPort(
    vantage="docker host",
    address=Address(host="localhost", port=9094),
    sight=SecuritySight(spoken=Spoken.SSL, tls=TLS),
)


def test_a_port_is_its_listeners_and_is_held_against_the_advertised_name() -> None:
    asked, unasked = secured_ports(DEPLOYMENT, vantages(DEPLOYMENT), [SEEN], now=NOW)
    assert (asked.member, asked.listener, asked.sight) == ("kafka", "SECURE", SEEN.sight)
    assert (unasked.member, unasked.listener, str(unasked.address)) == ("kafka", "SECURE", "broker.example:9094")
    assert unasked.sight.detail == "seen at localhost:9094"
    assert unasked.sight.tls is not None
    assert unasked.sight.tls.faults == (
        (CertificateFault.NAME, '"broker.example" is not among its names: localhost'),
        SOON,
    )


def test_a_name_that_was_asked_for_is_not_told_twice() -> None:
    other = replace(SEEN, address=Address(host="broker.example", port=9094), member="kafka", listener="SECURE")
    found = secured_ports(DEPLOYMENT, vantages(DEPLOYMENT), [SEEN, other], now=NOW)
    assert [str(port.address) for port in found] == ["localhost:9094", "broker.example:9094"]


def test_a_port_of_nobody_shown_stays_as_it_is() -> None:
    strange = replace(SEEN, address=Address(host="elsewhere.example", port=1), vantage="nowhere")
    assert secured_ports(DEPLOYMENT, vantages(DEPLOYMENT), [strange], now=NOW) == (strange,)
