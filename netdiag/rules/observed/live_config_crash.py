"""A broker is not running.

Why: A container that has exited, or that restarts repeatedly, serves no clients; the line of its log that ended it
gives the reason. If a configuration rule explains that line, the finding names the rule and the line of the Compose
file (or the variable of the container) that causes it.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      stopped: {kafka: "exited with 1: Timed out waiting for connection to Zookeeper"}  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      stopped: {}

Seen: requirement failed: ..., ConfigException: ..., Socket server failed to bind to ...

Sources: the container's state as the engine reports it, and the end of its log.
"""

import re
from collections.abc import Iterable, Iterator

from netdiag.deployment.model.deployment import Broker, State
from netdiag.deployment.observation.live_view import LiveView
from netdiag.deployment.prediction.shared_names import member_in_words
from netdiag.findings import ContainerLocation, Finding, Related, Severity
from netdiag.patterns import regex
from netdiag.rules.live_findings import predicting, setting_place
from netdiag.values import dataclass

ID = "live-config-crash"
SEVERITY = Severity.ERROR

# What the engine says of a port that another container has, or another process.
_PORT_TAKEN = regex(r":(\d{1,5})(?: failed: port is already allocated|: bind: address already in use)")


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every broker that is not running, with the rule that explains the log and the line to blame."""
    for broker in view.deployment.brokers:
        reason = view.stopped.get(broker.name)
        if reason is None:
            continue
        why, hint, related = _explained(view, broker, reason)
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{broker.name} is not running: {reason}",
            location=ContainerLocation(container=broker.name, part="log"),
            why=why,
            hint=hint,
            related=related,
            service=broker.name,
        )


def _explained(view: LiveView, broker: Broker, reason: str) -> tuple[str, str, tuple[Related, ...]]:
    again = f"then start {broker.name} again"
    files = predicting(view, broker)
    if files:
        first = files[0]
        places = tuple(Related(location=one.where, message=f"{one.rule}: {one.message}") for one in files)
        return f"{first.rule}: {first.message}", f"{first.hint or 'fix it'}, {again}", places
    taken = _PORT_TAKEN.search(reason)
    if taken is not None:
        return _holder(view, broker, int(taken[1])), f"publish another port of the docker host for {broker.name}", ()
    found = explain((*view.logs.get(broker.name, ()), reason))
    if found is None:
        why = "nothing listens in a container that is not running, and its names do not resolve"
        return why, f"fix what the log reports, {again}", ()
    rules = " or ".join(found.rules)
    place = setting_place(view, broker, found.setting) if found.setting else ()
    about = found.setting or "its configuration"
    return (
        f"the broker refuses {about}: {rules}",
        f"follow `netdiag explain {found.rules[0]}`, {again}",
        place,
    )


def _holder(view: LiveView, broker: Broker, port: int) -> str:
    """Who has a port of the docker host that a broker was to publish."""
    holders = [
        member_in_words(view.deployment, member.name)
        for member, _ in view.deployment.publishers_by_port.get(port, ())
        if member.name != broker.name and member.state not in (State.STOPPED, State.DECLARED)
    ]
    owner = holders[0] if holders else "something other than a container"
    return f"{owner} has port {port} of the docker host"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartupError:
    """A sentence that a log holds, as a pattern. `setting` is a property, or a variable in capitals; "" for none.

    A group of the pattern called `variable` is the variable that the image's script complains about.
    """

    pattern: re.Pattern[str]
    rules: tuple[str, ...]
    setting: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A line of a log and what explains it."""

    line: str
    rules: tuple[str, ...]
    setting: str


def _error(pattern: str, rules: str, setting: str = "") -> StartupError:
    return StartupError(pattern=re.compile(pattern), rules=tuple(rules.split()), setting=setting)


_LISTENERS, _ADVERTISED, _MAP = "listeners", "advertised.listeners", "listener.security.protocol.map"
_NAMES, _VOTERS, _ROLES = "controller.listener.names", "controller.quorum.voters", "process.roles"
_INTER, _PLANE = "inter.broker.listener.name", "control.plane.listener.name"

# Most telling first: a stack of causes holds several of them.
STARTUP_ERRORS: tuple[StartupError, ...] = (
    _error(
        r"advertised\.listeners listener names must be equal to or a subset", "advertised-not-in-listeners", _ADVERTISED
    ),
    _error(
        r"cannot use the nonroutable meta-address 0\.0\.0\.0",
        "advertised-wildcard controller-wildcard-on-3.9.0",
        _ADVERTISED,
    ),
    _error(
        r"KAFKA_CFG_LISTENERS environment variable does not configure a secure listener",
        "bitnami-legacy-switches",
        "KAFKA_CFG_LISTENERS",
    ),
    _error(r"control\.plane\.listener\.name is not supported in KRaft mode", "control-plane-misuse", _PLANE),
    _error(r"Listener with \S+ defined in control\.plane\.listener\.name not found", "control-plane-misuse", _PLANE),
    _error(r"control\.plane\.listener\.name must be a listener name defined", "control-plane-misuse", _PLANE),
    _error(r"control\.plane\.listener\.name, when defined, should have a different", "control-plane-misuse", _PLANE),
    _error(
        r"zookeeper\.connect. which has no default value",
        "image-defaults-dropped kraft-mode-ambiguous",
        "zookeeper.connect",
    ),
    _error(
        r"\"process\.roles\" which has no default value", "image-defaults-dropped image-version-breaks-mode", _ROLES
    ),
    _error(
        r"Role 'controller' enabled but environment variable (?P<variable>[A-Z_]{1,80}) was not provided",
        "image-env-alias-ignored",
    ),
    _error(r"advertised\.(?:port|host)(?:\.name)? is deprecated\. Please use", "image-env-rejected"),
    _error(r"(?P<variable>KAFKA_[A-Z_]{1,80}) is not supported on a KRaft controller", "image-env-rejected"),
    _error(r"(?P<variable>KAFKA_SSL_[A-Z_]{1,80}|KAFKA_OPTS) is required\.", "secrets-by-listener-name"),
    _error(
        r"environment variable \"?(?P<variable>KAFKA_PROCESS_ROLES)\"? is not set",
        "image-version-breaks-mode image-required-env-missing",
    ),
    _error(r"(?P<variable>(?:KAFKA|CLUSTER)_[A-Z_]{1,80}) is required\.", "image-required-env-missing"),
    _error(r"environment variable \"?(?P<variable>[A-Z_]{1,80})\"? is not set", "image-required-env-missing"),
    _error(r"KRaft requires (?P<variable>[A-Z_]{1,80}) to be set", "image-required-env-missing"),
    _error(r"Kafka requires at least one process role to be set", "image-version-breaks-mode", _ROLES),
    _error(r"Formatting is only supported for clusters in KRaft mode", "image-version-breaks-mode", _ROLES),
    _error(
        r"Only one of inter\.broker\.listener\.name and security\.inter\.broker", "inter-broker-both-settings", _INTER
    ),
    _error(
        r"inter\.broker\.listener\.name must be a listener name defined in advertised\.listeners",
        "inter-broker-not-advertised kraft-inter-broker-is-controller",
        _INTER,
    ),
    _error(
        r"must not contain KRaft controller listeners from controller\.listener\.names",
        "kraft-controller-advertised",
        _ADVERTISED,
    ),
    _error(
        r"must contain at least one value appearing in the 'listeners' configuration",
        "kraft-controller-listener-missing",
        _NAMES,
    ),
    _error(
        r"must only contain values appearing in the 'listeners' configuration",
        "kraft-controller-listener-missing",
        _NAMES,
    ),
    _error(
        r"must only contain KRaft controller listeners from controller\.listener\.names",
        "kraft-controller-listener-wrong-role",
        _LISTENERS,
    ),
    _error(
        r"defined in controller\.listener\.names not found in listener\.security\.protocol\.map",
        "kraft-controller-unmapped",
        _MAP,
    ),
    _error(
        r"controller\.listener\.names must contain at least one value when running KRaft with just",
        "kraft-controller-unmapped",
        _NAMES,
    ),
    _error(
        r"Because controller\.quorum\.voters is not set on this controller",
        "kraft-dynamic-quorum-unformattable",
        _VOTERS,
    ),
    _error(r"controller\.listener\.names must be empty when not running in KRaft mode", "kraft-mode-ambiguous", _NAMES),
    _error(r"Both KRaft mode and Zookeeper modes are configured", "kraft-mode-ambiguous", _ROLES),
    _error(r"Perhaps all listeners appear in controller\.listener\.names", "kraft-no-broker-advertised", _ADVERTISED),
    _error(
        r"You must set `node\.id` to the same value as `broker\.id`", "kraft-node-id-missing-or-mismatch", "node.id"
    ),
    _error(
        r"[\"`]node\.id[\"`] which (?:has no default value|is required)|KRaft mode requires an unique node\.id",
        "kraft-node-id-missing-or-mismatch",
        "node.id",
    ),
    _error(
        r"for configuration process\.roles: String must be one of|Duplicate role names found|must not be duplicat",
        "kraft-role-invalid",
        _ROLES,
    ),
    _error(r"Each entry should be in the form `\{id\}@\{host\}:\{port\}`", "kraft-voters-invalid", _VOTERS),
    _error(
        r"controller\.quorum\.voters must contain a parseable set of|included in the set of voters",
        "kraft-voters-invalid",
        _VOTERS,
    ),
    _error(r"Host string \(0\.0\.0\.0\) is not routeable", "kraft-voters-loopback", _VOTERS),
    _error(
        r"Socket server failed to bind to \S+: Cannot assign requested address",
        "listener-bound-to-foreign-address",
        _LISTENERS,
    ),
    _error(r"Socket server failed to bind to \S+: Address already in use", "listener-port-conflict", _LISTENERS),
    _error(r"Socket server failed to bind to", "listener-bound-to-foreign-address listener-port-conflict", _LISTENERS),
    _error(r"Each listener must have a different name", "listener-name-duplicate", _LISTENERS),
    _error(
        r"Each listener must have a different port|two listeners on the same port then one needs",
        "listener-port-conflict",
        _LISTENERS,
    ),
    _error(
        r"No security protocol defined for listener",
        "listener-name-unmapped protocol-map-drops-defaults listener-name-odd",
        _MAP,
    ),
    _error(
        r"Invalid security protocol `[^`]*` defined in listener\.security\.protocol\.map", "protocol-map-invalid", _MAP
    ),
    _error(r"Error parsing configuration property 'listener\.security\.protocol\.map'", "protocol-map-invalid", _MAP),
    _error(r"port out of range:", "listener-port-invalid", _LISTENERS),
    _error(r"Unable to parse .{0,200} to a broker endpoint", "listener-unparsable", _LISTENERS),
    _error(r"Error creating broker listeners from", "listener-unexpanded-or-quoted advertised-placeholder", _LISTENERS),
    _error(
        r"sasl\.mechanism\.inter\.broker\.protocol must be included in sasl\.enabled",
        "sasl-config-incomplete",
        "sasl.mechanism.inter.broker.protocol",
    ),
    _error(r"Failed to load (?:PEM )?SSL keystore ", "keystore-unusable", "ssl.keystore.location"),
    _error(r"PKIX path building failed", "keystore-untrusted", "ssl.truststore.location"),
    _error(r"validity check failed", "keystore-not-valid-now", "ssl.keystore.location"),
    _error(r"entry in the JAAS configuration", "sasl-jaas-missing", "sasl.enabled.mechanisms"),
    _error(
        r"system property 'org\.apache\.kafka\.sasl\.oauthbearer\.allowed\.urls' to allow",
        "oauthbearer-url-not-allowed",
        "sasl.oauthbearer.jwks.endpoint.url",
    ),
    _error(r"Invalid cluster\.id in:|doesn't match stored clusterId", "stale-data-directory cluster-id-inconsistent"),
    _error(r"doesn't match (?:previous node id|stored broker\.id)", "stale-data-directory", "node.id"),
    _error(r"Error while reading meta\.properties file|No readable meta\.properties files", "stale-data-directory"),
    _error(r"Missing environment variable (?P<variable>KAFKA_[A-Z_]{1,80})", "wurstmeister-listeners-missing"),
)


def explain(lines: Iterable[str]) -> Explanation | None:
    """The last line with the most specific sentence that a rule predicts; None if no line has one."""
    kept = tuple(lines)
    for refusal in STARTUP_ERRORS:
        for line in reversed(kept):
            found = refusal.pattern.search(line)
            if found:
                variable = found.groupdict().get("variable")
                return Explanation(line=line, rules=refusal.rules, setting=variable or refusal.setting)
    return None
