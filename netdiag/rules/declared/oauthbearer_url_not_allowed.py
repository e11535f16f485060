"""A broker gets the keys or tokens of SASL/OAUTHBEARER from a URL that its JVM does not allow.

Why: From 4.0 on, Kafka uses only URLs that the system property org.apache.kafka.sasl.oauthbearer.allowed.urls lists, by
commas and to the letter. By default it lists none.

Bad:
    services:
      kafka:
        image: apache/kafka:4.3.1
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
          KAFKA_LISTENER_NAME_LOGIN_OAUTHBEARER_SASL_JAAS_CONFIG: >-
            org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;
          KAFKA_LISTENER_NAME_LOGIN_OAUTHBEARER_SASL_SERVER_CALLBACK_HANDLER_CLASS: >-
            org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler
          KAFKA_LISTENER_NAME_LOGIN_OAUTHBEARER_SASL_OAUTHBEARER_JWKS_ENDPOINT_URL: https://id.example/keys  # <- here
          KAFKA_SASL_OAUTHBEARER_EXPECTED_AUDIENCE: kafka

Good:
    services:
      kafka:
        image: apache/kafka:4.3.1
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
          KAFKA_LISTENER_NAME_LOGIN_OAUTHBEARER_SASL_JAAS_CONFIG: >-
            org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;
          KAFKA_LISTENER_NAME_LOGIN_OAUTHBEARER_SASL_SERVER_CALLBACK_HANDLER_CLASS: >-
            org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler
          KAFKA_LISTENER_NAME_LOGIN_OAUTHBEARER_SASL_OAUTHBEARER_JWKS_ENDPOINT_URL: https://id.example/keys
          KAFKA_SASL_OAUTHBEARER_EXPECTED_AUDIENCE: kafka
          KAFKA_OPTS: -Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=https://id.example/keys

Seen: The URL cannot be accessed due to restrictions. Update the system property
    'org.apache.kafka.sasl.oauthbearer.allowed.urls' to allow the URL to be accessed.

Sources: ConfigurationUtils.throwIfURLIsNotAllowed of Kafka 4.x; Kafka's documentation, System Properties.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, DeclaredValue, Deployment
from netdiag.findings import Finding, Severity
from netdiag.kafka.rest_services import is_oauth_url
from netdiag.patterns import regex

ID = "oauthbearer-url-not-allowed"
SEVERITY = Severity.ERROR

_PROPERTY = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
_ALLOWED = regex(r"-Dorg\.apache\.kafka\.sasl\.oauthbearer\.allowed\.urls=[\"']?([^\s\"']*)")
# Only these classes look at the URLs; by default others are in force, which take unsecured tokens.
_USED_BY = {"JWKS": "OAuthBearerValidatorCallbackHandler", "TOKEN": "OAuthBearerLoginCallbackHandler"}
_FIRST_RELEASE = (4, 0)


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every such URL of a broker of a known release, where all options of its JVM are known."""
    for broker in deployment.configured:
        version = broker.config.version
        is_new = version.at_least(*_FIRST_RELEASE) if version is not None else broker.config.is_newest
        allowed = _allowed(broker)
        if not is_new or allowed is None:
            continue
        for name, setting in broker.config.settings.items():
            source = broker.source_of(name)
            url = (setting.value or "").strip()
            if source is None or not is_oauth_url(name) or not _is_used(broker, name):
                continue
            if url.startswith("http") and url not in allowed:
                yield _finding(broker, name, source, bool(allowed))


def _allowed(broker: Broker) -> frozenset[str] | None:
    """The URLs that the JVM of a broker allows; None where nobody can tell."""
    if broker.hides_options:
        return None
    found: set[str] = set()
    for variable, value in broker.member.variables.items():
        if _PROPERTY not in value:
            continue
        lists = _ALLOWED.findall(value)
        if not lists or broker.declared[variable].blanks:
            return None
        found |= {url.strip() for one in lists for url in one.split(",") if url.strip()}
    return frozenset(found)


def _is_used(broker: Broker, name: str) -> bool:
    handler = next(handler for word, handler in _USED_BY.items() if word in name.upper())
    classes = (value.value or "" for key, value in broker.config.settings.items() if "callback.handler.class" in key)
    return any(one.strip().endswith(handler) for one in classes)


def _finding(broker: Broker, name: str, source: DeclaredValue, has_others: bool) -> Finding:
    what = "keys" if "jwks" in name.lower() else "tokens"
    because = f"{_PROPERTY} lists others only" if has_others else f"no {_PROPERTY} is set"
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} gets its {what} from a URL that its JVM does not allow: {because}",
        location=source.at(),
        why="from 4.0 on, Kafka refuses every URL that is not listed there",
        hint=f"add the URL to -D{_PROPERTY}=... in KAFKA_OPTS",
        broker_prints=f"system property '{_PROPERTY}' to allow",
        service=broker.name,
    )
