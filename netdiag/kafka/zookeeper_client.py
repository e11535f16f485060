"""How a client of ZooKeeper connects and logs in, from the files that brokers and Kafka's zookeeper-shell take.

TLS is in properties that begin with `zookeeper.ssl.` (`KafkaConfig` and `ZkConfigs` of Kafka 3.9): of a broker's
server.properties, or of the file for `-zk-tls-config-file`. The login is the section Client of a JAAS file.
"""

from netdiag.errors import InputError
from netdiag.kafka.client_properties import ClientProperties, client_of, parse_jaas_file
from netdiag.kafka.java_properties import parse_properties
from netdiag.kafka.zookeeper import SaslUser

_PREFIX = "zookeeper."
_SOCKET = "zookeeper.clientCnxnSocket"
_NETTY = "org.apache.zookeeper.ClientCnxnSocketNetty"
_SECTION = "Client"
_MODULE = "DigestLoginModule"


def parse_zookeeper_tls(text: str, *, where: str) -> ClientProperties:
    """The TLS client of a file's text; InputError where it is none."""
    values = parse_properties(text)
    if values.get("zookeeper.ssl.client.enable", "").lower() != "true":
        raise InputError("it does not set zookeeper.ssl.client.enable=true", where=where)
    if values.get(_SOCKET) != _NETTY:
        raise InputError(f"it does not set {_SOCKET}={_NETTY}, which TLS takes", where=where)
    named = {name.removeprefix(_PREFIX): value for name, value in values.items() if name.startswith("zookeeper.ssl.")}
    for store in ("keystore", "truststore"):
        named |= _store(named, store)
    # KafkaConfig takes the first where nothing is said of the second.
    if "ssl.protocol" in named:
        named.setdefault("ssl.enabled.protocols", named["ssl.protocol"])
    try:
        return client_of({**named, "security.protocol": "SSL"})
    except InputError as error:
        message = error.message.replace("ssl.", "zookeeper.ssl.")
        raise InputError(message, where=where, hint=error.hint) from None


def _store(values: dict[str, str], store: str) -> dict[str, str]:
    """Type and password as Kafka's own stores have them: ZooKeeper tells the type by the name of the file."""
    location, kind = values.get(f"ssl.{store}.location", ""), values.get(f"ssl.{store}.type", "")
    if not location:
        return {}
    is_pem = kind.upper() == "PEM" or (not kind and location.lower().endswith(".pem"))
    if not is_pem:
        return {f"ssl.{store}.password": values.get(f"ssl.{store}.password", "")}
    password = values.pop(f"ssl.{store}.password", None)
    found = {f"ssl.{store}.type": "PEM"}
    return found | ({"ssl.key.password": password} if password and store == "keystore" else {})


def parse_zookeeper_login(text: str, *, where: str) -> SaslUser:
    """Who logs in, of a JAAS file's text; InputError where that is nobody, or not with DIGEST-MD5."""
    try:
        modules = parse_jaas_file(text).get(_SECTION, ())
    except InputError as error:
        raise InputError(error.message, where=where) from None
    if not modules:
        raise InputError(f"it has no section {_SECTION}", where=where)
    module = modules[0]
    name = module.name.rpartition(".")[2]
    if name != _MODULE:
        raise InputError(f"section {_SECTION} logs in with {name[:60]}; netdiag supports {_MODULE} only", where=where)
    username, password = module.options.get("username"), module.options.get("password")
    if not username or password is None:
        raise InputError(f"section {_SECTION} has no username and password", where=where)
    return SaslUser(username=username, password=password)
