"""Which stores brokers and clients take, and what is said of them; whose passwords lie where, and are never shown."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from netdiag.deployment.model.deployment import Deployment
from netdiag.rules.declared import check_deployment
from tests.deployment.stacks import deployment_of, files_beside

BROKER = """\
services:
  kafka:
    image: {image}
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: INNER://:29092,{listener}://:9093
      KAFKA_ADVERTISED_LISTENERS: INNER://kafka:29092,{listener}://kafka:9093
      KAFKA_INTER_BROKER_LISTENER_NAME: INNER
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INNER:PLAINTEXT,{listener}:SSL
{settings}
    volumes: ["./secrets:/etc/kafka/secrets"]
{more}
x-files:
  secrets/password: "p12-password-7\\n"
{files}
x-certificates:
  secrets/other.p12: {{names: [other.example], password: p12-password-7}}
  secrets/good.pem: {{names: [kafka], by: Authority}}
  secrets/trusted.pem: {{trusts: [Authority]}}
  secrets/stranger.pem: {{trusts: [Stranger]}}
"""


def broker(
    *settings: str,
    listener: str = "SECURE",
    image: str = "confluentinc/cp-kafka:7.9.2",
    more: str = "",
    files: str = "",
) -> str:
    lines = "\n".join(f"      {line}" for line in settings)
    return BROKER.format(image=image, listener=listener, settings=lines, more=more, files=files)


BY_SCRIPT = (
    "KAFKA_SSL_KEYSTORE_FILENAME: other.p12",
    "KAFKA_SSL_KEYSTORE_CREDENTIALS: password",
    "KAFKA_SSL_KEY_CREDENTIALS: password",
)
GOOD = ("KAFKA_SSL_KEYSTORE_TYPE: PEM", "KAFKA_SSL_KEYSTORE_LOCATION: /etc/kafka/secrets/good.pem")


def rules(deployment: Deployment) -> list[str]:
    found = [one.rule for one in check_deployment(deployment)]
    return [rule for rule in found if rule.startswith(("keystore", "sasl", "oauth", "client-c", "host-n"))]


def test_the_script_of_the_image_takes_files_from_its_folder() -> None:
    deployment = deployment_of(broker(*BY_SCRIPT, listener="SSL"))
    assert rules(deployment) == ["keystore-name-not-covered"]
    assert "p12-password-7" not in repr(deployment)
    # Under another name the script does nothing, and the broker has no key store.
    assert rules(deployment_of(broker(*BY_SCRIPT))) == []


def test_a_listener_has_settings_of_its_own() -> None:
    own = "KAFKA_LISTENER_NAME_SSL_SSL_KEYSTORE_LOCATION: /etc/kafka/secrets/good.pem"
    kind = "KAFKA_LISTENER_NAME_SSL_SSL_KEYSTORE_TYPE: PEM"
    assert rules(deployment_of(broker(*BY_SCRIPT, own, kind, listener="SSL"))) == []


SECRETS = """\
    secrets:
      - keystore
      - {source: password, target: /etc/kafka/secrets/password}
      - {source: given, target: x}
secrets:
  keystore: {file: ./secrets/other.p12}
  password: {file: ./secrets/password}
  given: {environment: HOME}
"""


def test_secrets_of_the_project_are_files_in_the_container() -> None:
    own = ("KAFKA_SSL_KEYSTORE_LOCATION: /run/secrets/keystore", "KAFKA_SSL_KEYSTORE_PASSWORD: p12-password-7")
    assert rules(deployment_of(broker(*own, more=SECRETS))) == ["keystore-name-not-covered"]
    named = ("KAFKA_SSL_KEYSTORE_FILENAME: ../../../run/secrets/keystore", *BY_SCRIPT[1:])
    text = broker(*named, listener="SSL", more=SECRETS).replace(
        'volumes: ["./secrets:/etc/kafka/secrets"]', "tty: true"
    )
    assert rules(deployment_of(text)) == ["keystore-name-not-covered"]
    wrong = (own[0], "KAFKA_SSL_KEYSTORE_PASSWORD: another")
    assert rules(deployment_of(broker(*wrong, more=SECRETS))) == ["keystore-unusable"]


CLIENT = """\
  registry:
    image: confluentinc/cp-schema-registry:7.9.2
    environment:
      SCHEMA_REGISTRY_HOST_NAME: registry
      SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS: SSL://kafka:9093
      SCHEMA_REGISTRY_KAFKASTORE_SECURITY_PROTOCOL: SSL
      SCHEMA_REGISTRY_KAFKASTORE_SSL_TRUSTSTORE_TYPE: PEM
      SCHEMA_REGISTRY_KAFKASTORE_SSL_TRUSTSTORE_LOCATION: /trust/{trust}
    volumes: ["./secrets:/trust"]
"""


@pytest.mark.parametrize(("trust", "expected"), [("trusted.pem", []), ("stranger.pem", ["keystore-untrusted"])])
def test_a_client_is_told_its_trust_store_by_variables(trust: str, expected: list[str]) -> None:
    deployment = deployment_of(broker(*GOOD, more=CLIENT.format(trust=trust)))
    assert rules(deployment) == expected
    # The certificate is not changed by a client that looks at no names.
    lenient = CLIENT.format(trust=trust).replace(
        "    volumes",
        '      SCHEMA_REGISTRY_KAFKASTORE_SSL_ENDPOINT_IDENTIFICATION_ALGORITHM: ""\n    volumes',
    )
    assert rules(deployment_of(broker(*GOOD, more=lenient))) == ["host-names-unchecked", *expected]


def test_who_logs_in_needs_no_certificate_unless_the_listener_asks() -> None:
    auth = "KAFKA_SSL_CLIENT_AUTH: required"
    client = CLIENT.format(trust="trusted.pem")
    assert rules(deployment_of(broker(*GOOD, auth, more=client))) == ["client-certificate-missing"]
    login = client.replace("SSL://", "SASL_SSL://").replace("PROTOCOL: SSL", "PROTOCOL: SASL_SSL")
    text = broker(*GOOD, auth, *LOGIN, more=login, files=JAAS).replace("SECURE:SSL", "SECURE:SASL_SSL")
    assert rules(deployment_of(text)) == []
    asked = text.replace("KAFKA_SSL_CLIENT_AUTH", "KAFKA_LISTENER_NAME_SECURE_SSL_CLIENT_AUTH")
    assert rules(deployment_of(asked)) == ["client-certificate-missing"]


JAAS = """\
  secrets/jaas.conf: |
    // A comment, and "a quote"
    KafkaServer {
      org.apache.kafka.common.security.plain.PlainLoginModule required
      username="admin" password="admin-secret-1" /* another */
      user_admin="admin-secret-1" user_app="app-secret-2;";
    };
"""
LOGIN = (
    "KAFKA_SASL_ENABLED_MECHANISMS: PLAIN",
    "KAFKA_OPTS: -Djava.security.auth.login.config=/etc/kafka/secrets/jaas.conf",
)
APP = """\
  app:
    image: example/app:1
    environment:
      SPRING_KAFKA_BOOTSTRAP_SERVERS: kafka:9093
      SPRING_KAFKA_PROPERTIES_SECURITY_PROTOCOL: SASL_PLAINTEXT
      SPRING_KAFKA_PROPERTIES_SASL_MECHANISM: PLAIN
      SPRING_KAFKA_PROPERTIES_SASL_JAAS_CONFIG: >-
        org.apache.kafka.common.security.plain.PlainLoginModule required username="{user}" password="{password}";
"""


@pytest.mark.parametrize(
    ("user", "password", "expected"),
    [
        ("app", "app-secret-2;", []),
        ("app", "app-secret-2", ["sasl-user-unknown"]),
        ("somebody", "app-secret-2;", ["sasl-user-unknown"]),
    ],
)
def test_users_stand_in_the_jaas_file(user: str, password: str, expected: list[str]) -> None:
    text = broker(*LOGIN, files=JAAS, more=APP.format(user=user, password=password))
    deployment = deployment_of(text.replace("SECURE:SSL", "SECURE:SASL_PLAINTEXT"))
    assert rules(deployment) == expected
    assert not [one for one in check_deployment(deployment) if "secret-2" in repr(one)]


def test_a_jaas_file_without_a_section_of_the_broker() -> None:
    text = broker(*LOGIN, files=JAAS.replace("KafkaServer", "KafkaClient"))
    assert rules(deployment_of(text.replace("SECURE:SSL", "SECURE:SASL_PLAINTEXT"))) == ["sasl-jaas-missing"]


def project(folder: Path, text: str) -> Path:
    for name, data in files_beside(text).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "compose.yml").write_text(text, encoding="utf-8")
    return folder / "compose.yml"


def checked(file: Path, *, before: str = "") -> tuple[list[str], str]:
    """The rules that speak, and all that is printed, as JSON and as text."""
    program = f"{before}from netdiag.cli.main import run; run()"
    printed = ""
    for form in ("text", "json"):
        words = [sys.executable, "-c", program, "check-listeners", str(file), "--format", form, "--exit-zero"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        printed += done.stdout
    found = [one["rule"] for one in json.loads(done.stdout)["findings"]]
    return [rule for rule in found if rule.startswith("keystore")], printed


def test_no_secret_is_printed(tmp_path: Path) -> None:
    found, printed = checked(project(tmp_path, broker(*BY_SCRIPT, listener="SSL")))
    assert found == ["keystore-name-not-covered"]
    assert "p12-password-7" not in printed
    (tmp_path / "secrets" / "password").write_text("another-secret-8")
    found, printed = checked(tmp_path / "compose.yml")
    assert found == ["keystore-unusable"]
    assert "another-secret-8" not in printed


def test_without_the_library_one_note_says_what_is_missing(tmp_path: Path) -> None:
    without = "import sys; sys.modules['cryptography'] = None; "
    file = project(tmp_path, broker(*BY_SCRIPT, listener="SSL", more=CLIENT.format(trust="trusted.pem")))
    found, printed = checked(file, before=without)
    assert found == ["keystore-not-checked"]
    assert "[live]" in printed
    # PEM takes no library.
    (tmp_path / "pem").mkdir()
    text = broker(*GOOD, more=CLIENT.format(trust="stranger.pem")).replace("names: [kafka]", "names: [other]")
    found, _ = checked(project(tmp_path / "pem", text), before=without)
    assert sorted(found) == ["keystore-name-not-covered", "keystore-not-checked", "keystore-untrusted"]


def test_a_link_out_of_the_project_and_a_huge_file_are_not_read(tmp_path: Path) -> None:
    inside = tmp_path / "project"
    inside.mkdir()
    file = project(inside, broker(*BY_SCRIPT, listener="SSL"))
    store = inside / "secrets" / "other.p12"
    store.rename(tmp_path / "other.p12")
    store.symlink_to(tmp_path / "other.p12")
    assert checked(file)[0] == []
    store.unlink()
    with store.open("wb") as sparse:
        os.truncate(sparse.fileno(), 1 << 40)
    assert checked(file)[0] == []
    store.unlink()
    os.mkfifo(store)
    assert checked(file)[0] == []


def test_a_client_that_cannot_use_its_trust_store() -> None:
    client = CLIENT.format(trust="other.p12")
    (found,) = (f for f in check_deployment(deployment_of(broker(*GOOD, more=client))) if f.rule.startswith("keystore"))
    assert (found.rule, found.service, found.broker_prints) == ("keystore-unusable", "registry", None)
    assert 'Failed to load PEM SSL keystore /trust/other.p12"' in found.why


PAIR = """\
services:
{brokers}
x-certificates:
  secrets/kafka-1.pem: {{names: [{first}], by: Authority}}
  secrets/kafka-2.pem: {{names: [kafka-2], by: {other}}}
  secrets/trusted.pem: {{trusts: [Authority]}}
"""
ONE_OF_PAIR = """\
  kafka-{n}:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      KAFKA_BROKER_ID: {n}
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_LISTENERS: INNER://:29092
      KAFKA_ADVERTISED_LISTENERS: INNER://kafka-{n}:29092
      KAFKA_INTER_BROKER_LISTENER_NAME: INNER
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INNER:SASL_SSL
      KAFKA_SASL_ENABLED_MECHANISMS: PLAIN
      KAFKA_SASL_MECHANISM_INTER_BROKER_PROTOCOL: PLAIN
      KAFKA_LISTENER_NAME_INNER_PLAIN_SASL_JAAS_CONFIG: >-
        org.apache.kafka.common.security.plain.PlainLoginModule required
        username="admin" password="secret-{n}" user_admin="{password}";
      KAFKA_SSL_KEYSTORE_TYPE: PEM
      KAFKA_SSL_KEYSTORE_LOCATION: /secrets/kafka-{n}.pem
      KAFKA_SSL_TRUSTSTORE_TYPE: PEM
      KAFKA_SSL_TRUSTSTORE_LOCATION: /secrets/trusted.pem
      KAFKA_SSL_ENDPOINT_IDENTIFICATION_ALGORITHM: "{checks}"
    volumes: ["./secrets:/secrets"]
"""


@pytest.mark.parametrize(
    ("first", "other", "passwords", "checks", "expected"),
    [
        ("kafka-1", "Authority", ("secret-2", "secret-1"), "https", []),
        ("elsewhere", "Authority", ("secret-2", "secret-1"), "https", [("keystore-name-not-covered", "kafka-1")]),
        (
            "elsewhere",
            "Authority",
            ("secret-2", "secret-1"),
            "",
            [("keystore-name-not-covered", "kafka-1"), ("host-names-unchecked", None), ("host-names-unchecked", None)],
        ),
        ("kafka-1", "Authority", ("secret-2", "other"), "https", [("sasl-user-unknown", "kafka-1")]),
        # Neither broker trusts the second, and the second does not trust itself.
        ("kafka-1", "Stranger", ("secret-2", "secret-1"), "https", [("keystore-untrusted", None)] * 2),
    ],
)
def test_brokers_among_themselves(
    first: str, other: str, passwords: tuple[str, str], checks: str, expected: list[tuple[str, str | None]]
) -> None:
    brokers = "".join(ONE_OF_PAIR.format(n=n, password=passwords[n - 1], checks=checks) for n in (1, 2))
    deployment = deployment_of(PAIR.format(brokers=brokers, first=first, other=other))
    found = [one for one in check_deployment(deployment) if one.rule.startswith(("keystore", "sasl", "host-n"))]
    assert [one.rule for one in found] == [rule for rule, _ in expected]
    assert all(service in (None, one.service) for one, (_, service) in zip(found, expected, strict=True))
    assert [one.service for one in found if one.broker_prints] == (["kafka-2"] if other == "Stranger" else [])


@pytest.mark.parametrize(
    ("kind", "data", "says"),
    [
        ("PEM", b"-----BEGIN CERTIFICATE-----\nAAAA" * 30_000, "it holds no certificate"),
        ("PEM", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" * 17_000, "it is damaged"),
        ("PKCS12", b"\x30\x83\x0f\xff\xf0" * 200_000, "it is damaged"),
        ("PKCS12", b"\x30" + bytes(range(256)) * 4000, "it is damaged"),
        ("JKS", b"\xfe\xed\xfe\xed\0\0\0\2\0\0\x27\x10" + b"\xff" * 500_000, "it is damaged"),
        ("JKS", b"\x1b]0;title\x07", "it is damaged"),
    ],
)
def test_a_hostile_store_costs_little_and_is_one_line(tmp_path: Path, kind: str, data: bytes, says: str) -> None:
    own = ("KAFKA_SSL_KEYSTORE_LOCATION: /etc/kafka/secrets/hostile", f"KAFKA_SSL_KEYSTORE_TYPE: {kind}")
    file = project(tmp_path, broker(*own, "KAFKA_SSL_KEYSTORE_PASSWORD: hostile-secret-9"))
    (tmp_path / "secrets" / "hostile").write_bytes(data)
    words = [sys.executable, "-m", "netdiag", "check-listeners", str(file), "--format", "concise"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    (line,) = (line for line in done.stdout.splitlines() if "keystore-unusable" in line)
    assert says in line
    assert done.stderr == ""
    assert "hostile-secret-9" not in done.stdout
    assert after.ru_utime - before.ru_utime < 10


def test_a_host_with_an_underscore_is_no_name_whatever_the_certificate_says() -> None:
    text = broker(*GOOD).replace("SECURE://kafka:", "SECURE://kafka_1:").replace("names: [kafka]", "names: [kafka_1]")
    text = text.replace("    volumes", "    hostname: kafka_1\n    volumes")
    (found,) = (f for f in check_deployment(deployment_of(text)) if f.rule.startswith("keystore"))
    assert "no domain name to Java" in found.message
    assert '"Illegal given domain name: kafka_1"' in found.why


SCRAM_LOGIN = """\
services:
  kafka:
    image: apache/kafka:3.9.1
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: INNER://:29092,LOGIN://:9092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: INNER://kafka:29092,LOGIN://kafka:9092
      KAFKA_INTER_BROKER_LISTENER_NAME: INNER
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INNER:PLAINTEXT,LOGIN:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
      KAFKA_LISTENER_NAME_LOGIN_SASL_ENABLED_MECHANISMS: SCRAM-SHA-256,SCRAM-SHA-512
      KAFKA_LISTENER_NAME_LOGIN_SCRAM___SHA___256_SASL_JAAS_CONFIG: {module} required;
      KAFKA_LISTENER_NAME_LOGIN_SCRAM___SHA___512_SASL_JAAS_CONFIG: {module} required;
  app:
    image: example/app:1
    environment:
      KAFKA_BOOTSTRAP_SERVERS: kafka:9092
      KAFKA_SECURITY_PROTOCOL: SASL_PLAINTEXT
      KAFKA_SASL_MECHANISM: SCRAM-SHA-512
      KAFKA_SASL_JAAS_CONFIG: '{module} required username="alice" password="secret-7";'
  users:
    image: apache/kafka:3.9.1
    volumes: ["./users.sh:/users.sh"]
    environment: {{NAME: alice, MECHANISM: SCRAM-SHA-512}}
    command: {command}
x-files:
  users.sh: {script}
"""
CONFIGS = "kafka-configs.sh --bootstrap-server kafka:29092 --alter --entity-type users"
ALICE = "SCRAM-SHA-512=[password=secret-7]"
MISSING, OTHER = "sasl-scram-user-missing", "sasl-user-unknown"


def scram_login(command: str | list[str], script: str = "") -> Deployment:
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    text = SCRAM_LOGIN.format(module=module, command=json.dumps(command), script=json.dumps(script))
    return deployment_of(text)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("sleep infinity", [MISSING]),
        (f"{CONFIGS} --entity-name alice --add-config {ALICE}", []),
        (f"{CONFIGS} --entity-name=alice --add-config={ALICE}", []),
        (f"{CONFIGS} --user alice --add-config 'SCRAM-SHA-256=[password=x],{ALICE}'", []),
        (f"{CONFIGS} --entity-name alice --add-config SCRAM-SHA-512=[iterations=8192,password=secret-7]", []),
        (f"{CONFIGS} --entity-name bob --add-config {ALICE}", [MISSING]),
        (f"{CONFIGS} --entity-name alice --add-config SCRAM-SHA-256=[password=secret-7]", [MISSING]),
        (f"{CONFIGS} --entity-name alice --add-config SCRAM-SHA-512=[password=secret-8]", [OTHER]),
        (["bash", "-c", f"until {CONFIGS} --entity-name $$NAME --add-config '{ALICE}'; do sleep 1; done"], []),
        (["bash", "-c", f"{CONFIGS} --entity-name alice --add-config SCRAM-SHA-512=[password=$$(cat /p)]"], []),
        # Nobody can tell whom these create.
        (["bash", "-c", f"for u in alice; do {CONFIGS} --entity-name $$u --add-config {ALICE}; done"], []),
        (["bash", "-c", f"{CONFIGS} --entity-name bob --add-config $$MECHANISM=[password=x]"], [MISSING]),
        (["bash", "-c", f"create() {{ {CONFIGS} --entity-name $$1 --add-config $$2=[password=$$3]; }}; create"], []),
        (["python3", "create.py", "SCRAM-SHA-512=[password=x]"], []),
        # As a broker's storage is formatted.
        ("kafka-storage.sh format -t x -c y --add-scram 'SCRAM-SHA-512=[name=alice,password=secret-7]'", []),
        ('kafka-storage format -t x -c y -S SCRAM-SHA-512=[name="alice",password="secret-7"]', []),
        ("kafka-storage.sh format -t x -c y --add-scram SCRAM-SHA-512=[name=bob,password=secret-7]", [MISSING]),
        ("kafka-storage.sh format -t x -c y --add-scram SCRAM-SHA-512=[name=alice,password=secret-8]", [OTHER]),
        (
            f"java kafka.tools.StorageTool format --add-scram SCRAM-SHA-512=[name=bob,password=x] "
            f"--add-scram {ALICE.replace('[', '[name=alice,')}",
            [],
        ),
        (["bash", "-c", "kafka-storage.sh format --add-scram $$(cat /users)"], []),
    ],
)
def test_users_of_scram(command: str | list[str], expected: list[str]) -> None:
    assert [one for one in rules(scram_login(command)) if one in (MISSING, OTHER)] == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (f"set -e\n{CONFIGS} \\\n  --entity-name alice \\\n  --add-config '{ALICE}'\n", []),
        (f"{CONFIGS} --entity-name bob --add-config '{ALICE}'\n", [MISSING]),
        (f"# {ALICE}\n{CONFIGS} --entity-name bob --add-config '{ALICE}'\n", []),
        (f'while read u; do {CONFIGS} --entity-name "$u" --add-config "{ALICE}"; done < users\n', []),
        ("--add-scram SCRAM-SHA-512=[" * 5000, []),
        ("$(" * 30_000 + ALICE, []),
    ],
)
def test_users_of_scram_in_scripts(script: str, expected: list[str]) -> None:
    found = scram_login("/users.sh", script)
    assert [one for one in rules(found) if one in (MISSING, OTHER)] == expected
    assert "secret-7" not in repr(found.users)


TOKENS = """\
services:
  kafka:
    image: {image}
    {keys}
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: INNER://:29092,LOGIN://:9092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: INNER://kafka:29092,LOGIN://kafka:9092
      KAFKA_INTER_BROKER_LISTENER_NAME: INNER
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INNER:PLAINTEXT,LOGIN:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
      KAFKA_LISTENER_NAME_LOGIN_SASL_ENABLED_MECHANISMS: OAUTHBEARER
      KAFKA_LISTENER_NAME_LOGIN_OAUTHBEARER_SASL_JAAS_CONFIG: x.OAuthBearerLoginModule required;
      {prefix}_SERVER_CALLBACK_HANDLER_CLASS: {handler}
      {prefix}_OAUTHBEARER_JWKS_ENDPOINT_URL: {url}
      {options}
"""
ALLOWED = "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls"
KEYS = "https://id.example/keys"
REFUSED = ["oauthbearer-url-not-allowed"]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, REFUSED),
        ({"image": "confluentinc/cp-kafka:8.0.0"}, REFUSED),
        ({"image": "apache/kafka:latest"}, REFUSED),
        # Releases that allow every URL, and one that nobody knows.
        ({"image": "apache/kafka:3.9.1"}, []),
        ({"image": "confluentinc/cp-kafka:7.9.2"}, []),
        ({"options": f"KAFKA_OPTS: -Xmx1g {ALLOWED}={KEYS}"}, []),
        ({"options": f"JAVA_TOOL_OPTIONS: '{ALLOWED}=http://one, {KEYS}'"}, REFUSED),
        ({"options": f"KAFKA_OPTS: '{ALLOWED}=http://one,{KEYS} -Xmx1g'"}, []),
        ({"options": f"KAFKA_OPTS: '\"{ALLOWED}={KEYS}\"'"}, []),
        ({"options": f"KAFKA_OPTS: {ALLOWED}={KEYS}/"}, REFUSED),
        ({"options": f"KAFKA_OPTS: {ALLOWED}="}, REFUSED),
        # Nobody can tell what the JVM gets.
        ({"options": f"KAFKA_OPTS: {ALLOWED}=${{URLS}}"}, []),
        ({"options": "KAFKA_OPTS:"}, []),
        ({"keys": "env_file: missing.env"}, []),
        ({"keys": f"command: [bash, -c, 'KAFKA_OPTS={ALLOWED}={KEYS} /etc/kafka/docker/run']"}, []),
        ({"url": "file:///keys.json"}, []),
        ({"url": "${KEYS}"}, []),
        # Others look at no URL.
        ({"handler": "com.example.Handler"}, []),
        ({"handler": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"}, []),
    ],
)
def test_urls_that_a_jvm_allows(changed: dict[str, str], expected: list[str]) -> None:
    values = {
        "image": "apache/kafka:4.3.1",
        "keys": "",
        "prefix": "KAFKA_LISTENER_NAME_LOGIN_OAUTHBEARER_SASL",
        "handler": "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler",
        "url": KEYS,
        "options": "",
    }
    found = rules(deployment_of(TOKENS.format(**{**values, **changed})))
    assert [one for one in found if one.startswith("oauth")] == expected
