"""Which security protocol a client speaks, as far as the files tell."""

import re

from netdiag.deployment.clients import Attempt
from netdiag.deployment.delivery import Landed

# Programs that speak PLAINTEXT unless their command line or a file named there says otherwise.
_PLAIN_TOOLS = re.compile(r"kafka-[a-z-]+|ksql-datagen")
# Services that are configured by their variables alone, and speak PLAINTEXT unless one of them says otherwise.
_PLAIN_SERVICES = {
    "CONNECT_BOOTSTRAP_SERVERS": re.compile(r"(?:^|/)cp-(?:kafka|server)-connect(?:-base)?(?:[:@]|$)"),
    "SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS": re.compile(r"(?:^|/)cp-schema-registry(?:[:@]|$)"),
    "KSQL_BOOTSTRAP_SERVERS": re.compile(r"(?:^|/)(?:cp-)?ksqldb?-server(?:[:@]|$)"),
}
_SAYS_SECURITY = re.compile(r"SECURITY|SASL|SSL|TLS|JAAS")


def spoken(attempt: Attempt) -> str | None:
    """The security protocol that a client declares, or is known to speak while nothing is declared."""
    dependent = attempt.dependent
    if dependent.protocol is not None:
        return dependent.protocol
    if dependent.tool:
        plain = _PLAIN_TOOLS.fullmatch(dependent.tool) is not None and not dependent.configured
        return "PLAINTEXT" if plain else None
    image = _PLAIN_SERVICES.get(dependent.setting)
    if image is None or not image.search(attempt.client.image) or attempt.client.mounts:
        return None
    says = any(_SAYS_SECURITY.search(name.upper()) for name in attempt.client.variables)
    return None if says else "PLAINTEXT"


def required(landed: Landed) -> str | None:
    """The security protocol of the listener that a client has entered; None where that is unknown."""
    return landed.broker.config.protocol_map.get(landed.entry.endpoint.listener)
