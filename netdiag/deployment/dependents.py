"""Which members are Kafka clients, by the variables that tell them a bootstrap list."""

import re

# Names that carry a bootstrap list across Connect, Schema Registry, ksqlDB, REST proxy, the web UIs and the
# usual application frameworks; counted over public compose files.
_BOOTSTRAP_VARIABLE = re.compile(
    r"(?:.*_)?(?:BOOTSTRAP_?SERVERS?|BOOTSTRAPSERVERS?|KAFKA_BROKERS?|KAFKA_BROKER_LIST|BROKERCONNECT|KAFKA_HOSTS?)"
    r"|KAFKA_BROKERCONNECT|BROKERS?|BROKER_LIST|.*_KAFKA_BINDER_BROKERS|.*_KAFKA_URL|KAFKA_URL"
)
_NOT_CLIENTS = ("CONTROLLER_QUORUM",)
_ADDRESS = re.compile(r"(?:[A-Za-z0-9_]+://)?\[?(?P<host>[A-Za-z0-9._:\-]+?)\]?:(?P<port>\d{1,5})")


def is_bootstrap_variable(name: str) -> bool:
    """Whether a variable of this name tells a client where to start."""
    upper = name.upper()
    return _BOOTSTRAP_VARIABLE.fullmatch(upper) is not None and not any(word in upper for word in _NOT_CLIENTS)


def bootstrap_addresses(value: str) -> tuple[tuple[str, int], ...]:
    """The host:port pairs of a bootstrap list; empty unless every item is one."""
    found: list[tuple[str, int]] = []
    for item in value.split(","):
        match = _ADDRESS.fullmatch(item.strip())
        if match is None:
            return ()
        found.append((match["host"], int(match["port"])))
    return tuple(found)
