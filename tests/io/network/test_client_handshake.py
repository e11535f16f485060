"""A client with settings against brokers on loopback: which connections come about, and where secrets go."""

from pathlib import Path

import pytest

from netdiag.deployment.model.verdict import Address, Verdict
from netdiag.deployment.observation.live_view import SecuredPort, docker_host_vantage
from netdiag.io.network.client_identity import read_client
from netdiag.io.network.observation import observe
from netdiag.kafka.security import CertificateFault, SpokenProtocol
from tests.io.network import hostile
from tests.io.network.authorities import issue
from tests.io.network.hostile import Behaviour, ScriptedBroker, serving
from tests.io.network.secured_servers import PASSWORD, SaslBroker, World, behind_tls, context_for

TIMEOUT = 20.0
"""Long, so that a busy machine decides nothing; nothing here waits for it but where it says so."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(folder=tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def good(world: World) -> Path:
    return world.server(issue("kafka", by=world.root, names=["localhost"], addresses=["127.0.0.1"]))


def look(
    port: int, properties: Path | None, *, host: str = "127.0.0.1", warn_days: int = 30
) -> tuple[Verdict, list[SecuredPort]]:
    client = None if properties is None else read_client(str(properties))
    seen = observe(
        [docker_host_vantage()],
        [Address(host=host, port=port)],
        timeout=TIMEOUT,
        client=client,
        warn_days=warn_days,
    )
    (cell,) = seen.cells
    assert cell.observed is not None
    if properties is not None:
        assert PASSWORD not in repr(seen)
        assert "BEGIN" not in repr(seen)
    return cell.observed, list(seen.security)


def a_broker() -> ScriptedBroker:
    return ScriptedBroker(node_id=1, brokers=[])


def verdict_at(
    broker: ScriptedBroker, behaviour: Behaviour, properties: Path | None
) -> tuple[str, str, list[SecuredPort]]:
    """The verdict's word, why, and what was told about security; the broker advertises itself."""
    with serving(behaviour) as port:
        broker.brokers = [(1, "127.0.0.1", port)]
        verdict, security = look(port, properties)
    return str(verdict), verdict.bootstrap.because, security


def test_a_trusted_certificate_is_a_way_in(world: World, good: Path) -> None:
    broker = a_broker()
    word, because, security = verdict_at(broker, behind_tls(context_for(good), broker), world.properties("SSL"))
    assert word == "ok", because
    (port,) = security
    assert port.sight.spoken is SpokenProtocol.SSL
    assert port.sight.tls is not None
    assert set(port.sight.tls.versions) >= {"TLSv1.2", "TLSv1.3"}
    assert [(c.common_name, c.names, c.addresses) for c in port.sight.tls.chain] == [
        ("kafka", ("localhost",), ("127.0.0.1",))
    ]
    assert port.sight.tls.faults == ()
    assert not port.sight.tls.wants_client


@pytest.mark.parametrize("versions", ["TLSv1.2", "TLSv1.3"])
def test_each_version_alone(world: World, good: Path, versions: str) -> None:
    broker = a_broker()
    context = context_for(good, versions=versions)
    word, because, security = verdict_at(broker, behind_tls(context, broker), world.properties("SSL"))
    assert word == "ok", because
    tls = security[0].sight.tls
    assert tls is not None
    assert versions in tls.versions
    assert [certificate.common_name for certificate in tls.chain] == ["kafka"]


def test_a_certificate_for_another_name(world: World) -> None:
    broker = a_broker()
    path = world.server(issue("kafka", by=world.root, names=["kafka"]))
    word, because, security = verdict_at(broker, behind_tls(context_for(path), broker), world.properties("SSL"))
    assert word == "tls"
    assert 'name not covered: "127.0.0.1" is not among its names: kafka' in because
    assert [fault for fault, _ in _faults(security)] == [CertificateFault.NAME]
    lenient = world.properties("SSL", extra="ssl.endpoint.identification.algorithm=")
    assert verdict_at(broker, behind_tls(context_for(path), broker), lenient)[0] == "ok"


@pytest.mark.parametrize(
    ("valid", "fault", "said"),
    [
        ((-30.0, -1.0), CertificateFault.EXPIRED, "expired: it expired on"),
        ((1.0, 30.0), CertificateFault.NOT_YET_VALID, "not yet valid: it is valid from"),
    ],
)
def test_dates(world: World, valid: tuple[float, float], fault: CertificateFault, said: str) -> None:
    broker = a_broker()
    path = world.server(issue("kafka", by=world.root, addresses=["127.0.0.1"], valid=valid))
    word, because, security = verdict_at(broker, behind_tls(context_for(path), broker), world.properties("SSL"))
    assert word == "tls"
    assert said in because
    assert [found for found, _ in _faults(security)] == [fault]


def test_a_certificate_that_ends_soon_is_a_way_in_and_is_told_of(world: World) -> None:
    broker = a_broker()
    path = world.server(issue("kafka", by=world.root, addresses=["127.0.0.1"], valid=(-1, 40)))
    with serving(behind_tls(context_for(path), broker)) as port:
        broker.brokers = [(1, "127.0.0.1", port)]
        for warn_days, faults in ((30, []), (60, [CertificateFault.EXPIRES_SOON])):
            verdict, security = look(port, world.properties("SSL"), warn_days=warn_days)
            assert str(verdict) == "ok"
            assert [found for found, _ in _faults(security)] == faults


def test_an_unknown_authority(world: World, good: Path) -> None:
    broker = a_broker()
    properties = world.properties("SSL", trust="other.pem")
    word, because, security = verdict_at(broker, behind_tls(context_for(good), broker), properties)
    assert word == "tls"
    assert "its certificate is refused" in because
    assert [found for found, _ in _faults(security)] == [
        CertificateFault.UNKNOWN_AUTHORITY,
        CertificateFault.INCOMPLETE_CHAIN,
    ]


def test_a_certificate_that_vouches_for_itself(world: World) -> None:
    broker = a_broker()
    own = issue("kafka", addresses=["127.0.0.1"])
    path = world.server(own)
    word, _, security = verdict_at(broker, behind_tls(context_for(path), broker), world.properties("SSL"))
    assert (word, [found for found, _ in _faults(security)]) == ("tls", [CertificateFault.SELF_SIGNED])
    (world.folder / "own.pem").write_bytes(own.pem)
    trusting = world.properties("SSL", trust="own.pem")
    assert verdict_at(broker, behind_tls(context_for(path), broker), trusting)[0] == "ok"


def test_java_does_not_look_at_the_dates_of_what_is_trusted_itself(world: World) -> None:
    broker = a_broker()
    own = issue("kafka", addresses=["127.0.0.1"], valid=(-30, -1))
    path = world.server(own)
    (world.folder / "own.pem").write_bytes(own.pem)
    trusting = world.properties("SSL", trust="own.pem")
    word, because, security = verdict_at(broker, behind_tls(context_for(path), broker), trusting)
    assert word == "ok", because
    assert [found for found, _ in _faults(security)] == [CertificateFault.EXPIRED]


@pytest.mark.parametrize("versions", ["TLSv1.2", "TLSv1.3"])
def test_a_client_without_the_certificate_that_is_needed(world: World, good: Path, versions: str) -> None:
    broker = a_broker()
    context = context_for(good, client_authorities=world.folder / "ca.pem", versions=versions)
    word, because, security = verdict_at(broker, behind_tls(context, broker), world.properties("SSL"))
    assert word == "tls", because
    tls = security[0].sight.tls
    assert tls is not None
    assert (security[0].sight.spoken, tls.wants_client, tls.needs_client) == (SpokenProtocol.SSL, True, True)
    own = f"ssl.keystore.type=PEM\nssl.keystore.location={world.folder / 'client.pem'}"
    word, because, security = verdict_at(broker, behind_tls(context, broker), world.properties("SSL", extra=own))
    assert word == "ok", because


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("over_tls", [False, True])
@pytest.mark.parametrize("password", [PASSWORD, "another"])
def test_a_login(world: World, good: Path, mechanism: str, over_tls: bool, password: str) -> None:
    broker = SaslBroker(mechanisms=(mechanism,), port=lambda: port)
    behaviour: Behaviour = behind_tls(context_for(good), broker) if over_tls else broker
    properties = world.properties("SASL_SSL" if over_tls else "SASL_PLAINTEXT", mechanism=mechanism, password=password)
    with serving(behaviour) as port:
        verdict, security = look(port, properties)
    right = password == PASSWORD
    assert str(verdict) == ("ok" if right else "sasl"), verdict.bootstrap.because
    (seen,) = security
    assert seen.sight.spoken is (SpokenProtocol.SASL_SSL if over_tls else SpokenProtocol.SASL_PLAINTEXT)
    assert seen.sight.sasl is not None
    assert (seen.sight.sasl.mechanisms, seen.sight.sasl.authenticated) == ((mechanism,), right)
    if not right:
        assert "Authentication failed" in seen.sight.sasl.error
        assert password not in repr(seen)
        assert len([token for token in broker.tokens if not token.startswith(b"n,,")]) == 1


def test_a_mechanism_that_is_not_enabled(world: World) -> None:
    broker = SaslBroker(mechanisms=("SCRAM-SHA-512",), port=lambda: port)
    with serving(broker) as port:
        verdict, security = look(port, world.properties("SASL_PLAINTEXT", mechanism="PLAIN"))
    assert str(verdict) == "sasl"
    assert "PLAIN is not enabled, enabled: SCRAM-SHA-512" in verdict.bootstrap.because
    assert broker.tokens == []
    assert security[0].sight.sasl is not None
    assert security[0].sight.sasl.authenticated is False


def test_no_password_goes_to_who_is_not_trusted(world: World, good: Path) -> None:
    broker = SaslBroker(mechanisms=("PLAIN",), port=lambda: port)
    with serving(behind_tls(context_for(good), broker)) as port:
        verdict, _ = look(port, world.properties("SASL_SSL", trust="other.pem", mechanism="PLAIN"))
    assert str(verdict) == "tls"
    assert broker.tokens == []


# what the client speaks, what the listener does: the word
MISMATCHES = [
    ("PLAINTEXT", "SSL", "tls"),
    ("PLAINTEXT", "SASL_PLAINTEXT", "sasl"),
    ("PLAINTEXT", "SASL_SSL", "tls"),
    ("SSL", "PLAINTEXT", "tls"),
    ("SSL", "SASL_PLAINTEXT", "tls"),
    ("SSL", "SASL_SSL", "sasl"),
    ("SASL_PLAINTEXT", "SSL", "tls"),
    ("SASL_PLAINTEXT", "SASL_SSL", "tls"),
    ("SASL_SSL", "PLAINTEXT", "tls"),
    ("SASL_SSL", "SASL_PLAINTEXT", "tls"),
]


@pytest.mark.parametrize(("client", "listener", "expected"), MISMATCHES)
def test_a_client_of_another_protocol(world: World, good: Path, client: str, listener: str, expected: str) -> None:
    broker: ScriptedBroker = a_broker()
    if listener.startswith("SASL_"):
        broker = SaslBroker(mechanisms=("PLAIN",), port=lambda: 1)
    behaviour: Behaviour = behind_tls(context_for(good), broker) if listener.endswith("SSL") else broker
    mechanism = "PLAIN" if client.startswith("SASL_") else ""
    word, because, security = verdict_at(broker, behaviour, world.properties(client, mechanism=mechanism))
    assert word == expected, because
    assert [seen.sight.spoken.value for seen in security] == [listener]


@pytest.mark.parametrize(
    ("behaviour", "word"),
    [
        (hostile.garbage, "tls"),
        (hostile.http, "tls"),
        (hostile.immediate_close, "bootstrap: closed"),
        (hostile.reset, "bootstrap: closed"),
        (hostile.tls_alert, "tls"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_strangers(world: World, behaviour: Behaviour, word: str) -> None:
    with serving(behaviour) as port:
        verdict, _ = look(port, world.properties("SASL_SSL", mechanism="PLAIN"))
    assert str(verdict) == word, verdict.bootstrap.because


def _faults(security: list[SecuredPort]) -> tuple[tuple[CertificateFault, str], ...]:
    assert security[0].sight.tls is not None
    return security[0].sight.tls.faults
