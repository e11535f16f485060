"""Which members are Kafka clients, by the variables that tell them where to start.

A variable tells by its name, which holds a list, or by a document in it (YAML, JSON, properties) with such a key.
Whether the list is for one of the brokers at hand is not decided here.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from netdiag.deployment.bootstrap_lists import OPENING, bootstrap_list_at, parse_bootstrap_list
from netdiag.deployment.member import BootstrapAddress

# Names that carry a bootstrap list across Connect, Schema Registry, ksqlDB, REST proxy, the web UIs and the
# usual application frameworks; counted over public compose files.
_HOST_WORDS = r"(?:_?(?:URLS?|URIS?|ADDR(?:ESS(?:ES)?)?|HOSTS?|SERVERS?|ENDPOINTS?|NODES|LIST))?"
_BOOTSTRAP_VARIABLE = re.compile(
    r"(?:.*_)?(?:(?:BOOTSTRAP_?(?:SERVERS?|BROKERS?)|BROKERS?_?CONNECT|KAFKA_BROKERS?" + _HOST_WORDS + r")"
    r"|KAFKA_?(?:HOSTS?|SERVERS?|URLS?|URIS?|ADDR(?:ESS(?:ES)?)?|ENDPOINTS?|NODES|SEEDS|SEED_BROKERS|BOOTSTRAP|PEERS))"
    r"|(?:.*_)?(?:BROKERS|BROKERS?_?LIST)|BROKERS?" + _HOST_WORDS
)
_RELATED = re.compile(r"KAFKA|BROKER|BOOTSTRAP|REDPANDA")
_NOT_CLIENTS = re.compile(r"CONTROLLER_QUORUM|LISTENER|ADVERTISED|VOTERS|ZOOKEEPER|ZK|INTER_BROKER|PROXY")
_WAITS = re.compile(r"(?:^|_)WAIT(?:_|$)|PRECONDITION")
_KEY = re.compile(
    r"(?i)(?:bootstrap[._-]?servers?|(?<![\w.-])brokers|(?:metadata[._-])?broker[._-]?list)[\"'\\]{0,4}[ \t]*[:=]\s*"
    r"(?:-[ \t]+)?" + OPENING
)
_KEY_START = re.compile(r"[\w.-]{0,100}\Z")
_COMMENT = re.compile(r"[ \t]*(?:#|//)")
_PROTOCOL_KEY = re.compile(r"(?i)security[._-]?protocol[\"'\\]{0,4}[ \t]*[:=][ \t]*[\"'\\]{0,4}(\w+)")
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A list of addresses that a client is told by the text called `source`; the places are those in that text.

    `setting` is what a person changes. `certain` is false where only the addresses themselves make it likely that
    the list is for Kafka; `waits` is true where connecting is all that is done. `protocol` is the security protocol
    that is declared beside the list, None where none is or it cannot be told which one counts.
    """

    source: str
    setting: str
    addresses: tuple[BootstrapAddress, ...]
    certain: bool = True
    waits: bool = False
    protocol: str | None = None


def told_by_variables(variables: Mapping[str, str]) -> Iterator[Told]:
    """What the variables of a member tell it, in their order."""
    for name, value in variables.items():
        known = _plain_name(name)
        if _NOT_CLIENTS.search(known):
            continue
        addresses = parse_bootstrap_list(value) if ":" in value else ()
        waits = _WAITS.search(known) is not None
        certain = is_bootstrap_variable(name)
        if addresses and (waits or certain or _RELATED.search(known)):
            protocol = None if waits else protocol_beside(name, variables)
            yield Told(
                source=name,
                setting=name,
                addresses=addresses,
                certain=certain,
                waits=waits and not certain,
                protocol=protocol,
            )
        elif certain and not addresses:
            yield from _told_by_pair(name, value, variables)
        if not addresses:
            yield from _told_by_document(name, value)


def is_bootstrap_variable(name: str) -> bool:
    """Whether a variable of this name tells a client where to start."""
    known = _plain_name(name)
    return _BOOTSTRAP_VARIABLE.fullmatch(known) is not None and _NOT_CLIENTS.search(known) is None


def protocol_beside(name: str, variables: Mapping[str, str]) -> str | None:
    """The security protocol that the variables declare for the client of a bootstrap variable."""
    plain = {_plain_name(other): value.strip().upper() for other, value in variables.items()}
    prefix = re.sub(r"(?:BOOTSTRAP_?)?(?:SERVERS?|BROKERS?)(?:_?LIST)?$", "", _plain_name(name))
    middles = ("", "PROPERTIES_", "CLIENT_", "STREAMS_", "CONFIGURATION_")
    for middle in middles:
        value = plain.get(f"{prefix}{middle}SECURITY_PROTOCOL")
        if value in _PROTOCOLS:
            return value
    return None


def _plain_name(name: str) -> str:
    """A name in capitals with single underscores, whichever way the framework spells its properties."""
    return re.sub(r"[_.:-]+", "_", name).upper()


def _told_by_pair(name: str, value: str, variables: Mapping[str, str]) -> Iterator[Told]:
    """X_HOST and X_PORT, told apart."""
    other = re.sub(r"(?i)HOST$", lambda word: "port" if word[0].islower() else "PORT", name)
    port = variables.get(other, "").strip() if other != name else ""
    addresses = parse_bootstrap_list(f"{value}:{port}") if port.isdecimal() and len(port) <= 5 else ()
    if len(addresses) == 1 and not addresses[0].scheme:
        (only,) = addresses
        address = BootstrapAddress(host=only.host, port=only.port, start=only.start, end=len(value.rstrip()))
        # Some other server may be called so: only a broker's own name tells.
        yield Told(source=name, setting=f"{name} and {other}", addresses=(address,), certain=False)


def _told_by_document(name: str, value: str) -> Iterator[Told]:
    keys = list(_KEY.finditer(value))
    if not keys or value.lstrip().startswith(("http:", "https:")):
        return
    protocols = {word.upper() for word in _PROTOCOL_KEY.findall(value)}
    protocol = next(iter(protocols)) if len(protocols) == len(keys) == 1 else None
    for key in keys[:50]:
        line = value.rfind("\n", 0, key.start()) + 1
        addresses, _ = bootstrap_list_at(value, key.end())
        if not addresses or _COMMENT.match(value, line):
            continue
        before = _KEY_START.search(value, max(line, key.start() - 100), key.start())
        start = before.start() if before else key.start()
        called = re.split(r"[\"'\\\s:=]", value[start : key.end()])[0]
        yield Told(
            source=name,
            setting=f"{called} in {name}",
            addresses=addresses,
            protocol=protocol if protocol in _PROTOCOLS else None,
        )
