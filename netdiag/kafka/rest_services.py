"""Services beside a broker that answer HTTP and pass requests on to one another: what they bind, and what they tell.

A worker of Kafka Connect that does not lead its group forwards what changes connectors to the leader, and any worker
forwards a restart to the one that runs the connector; a secondary Schema Registry forwards writes to the primary, and a
node of ksqlDB asks others for their part of a query. Each registers the URL that the others are to use.

Keycloak gives tokens to clients of SASL/OAUTHBEARER, and brokers the keys that verify them.

Sources: RestServer and RestServerConfig of Kafka Connect; the start scripts of cp-kafka-connect and debezium/connect.
Those of Schema Registry, ksqlDB, REST Proxy and Keycloak follow their documentation.
"""

from collections.abc import Mapping
from enum import Enum
from itertools import islice

from netdiag.digits import number_of
from netdiag.kafka.images.reference import Environment, is_floating, version_of
from netdiag.kafka.images.settings import Setting, dotted_settings_from, image_default, unescaped, with_defaults
from netdiag.kafka.listeners import ListenerEntry, MalformedEntry, parse_listeners
from netdiag.patterns import regex
from netdiag.values import dataclass

CONNECT_COMMAND = "connect-distributed"
MIRROR_MAKER_COMMAND = "connect-mirror-maker"
# Nodes of MirrorMaker listen and forward only with this setting, which Kafka 3.5 brought (KIP-710).
_INTERNAL_REST = "dedicated.mode.enable.internal.rest"
_REPOSITORY = regex(r"(?:^|/)(?P<name>[a-z0-9._-]+/[a-z0-9._-]+|[a-z0-9._-]+?)(?::(?P<tag>[\w.-]+))?(?:@\S*)?\Z")
_HIGHEST_PORT = 65535
# From these releases on, Connect has no rest.port (KIP-768 removed it in Kafka 3.0).
_CONFLUENT_WITHOUT_REST_PORT = (7, 0)
_DEBEZIUM_WITHOUT_REST_PORT = (1, 8)
# What debezium/connect calls what other images call CONNECT_...
_DEBEZIUM = {
    "GROUP_ID": "group.id",
    "CONFIG_STORAGE_TOPIC": "config.storage.topic",
    "OFFSET_STORAGE_TOPIC": "offset.storage.topic",
    "STATUS_STORAGE_TOPIC": "status.storage.topic",
    "BOOTSTRAP_SERVERS": "bootstrap.servers",
    "REST_PORT": "rest.port",
    "ADVERTISED_HOST_NAME": "rest.advertised.host.name",
    "ADVERTISED_PORT": "rest.advertised.port",
}
_OTHER_PROGRAMS = regex(
    r"connect-standalone|connect-mirror-maker|kafka-(?:avro|json-schema|protobuf)-console"
    r"|\A(?:sleep |tail -f /dev/null)"
)
_ASSIGNED = regex(r"(?<![\w$./-])(?P<name>[A-Z][A-Z0-9_]{2,99})=")
_MOST_ASSIGNED = 100
# The latter is that of Redpanda Console.
_OAUTH_URL = regex(r"SASL_(?:OAUTHBEARER_(?:TOKEN|JWKS)_ENDPOINT_URL|OAUTH_TOKENENDPOINT)\Z")
_URL = regex(r"(?i)(?P<scheme>https?)://\[?(?P<host>[0-9a-z\-%._:]*?)\]?:(?P<port>\d{1,5})/?")


class RestService(Enum):
    """What answers; the value is its name in sentences."""

    CONNECT = "Kafka Connect"
    MIRROR_MAKER = "MirrorMaker"
    SCHEMA_REGISTRY = "Schema Registry"
    KSQLDB = "ksqlDB"
    REST_PROXY = "REST Proxy"
    KEYCLOAK = "Keycloak"


# A group, and what is kept in topics for it.
GROUP_PROPERTY = {
    RestService.CONNECT: "group.id",
    RestService.MIRROR_MAKER: "clusters",
    RestService.SCHEMA_REGISTRY: "schema.registry.group.id",
    RestService.KSQLDB: "ksql.service.id",
}
BOOTSTRAP_PROPERTY = {
    RestService.CONNECT: "bootstrap.servers",
    RestService.MIRROR_MAKER: "bootstrap.servers",
    RestService.SCHEMA_REGISTRY: "kafkastore.bootstrap.servers",
    RestService.KSQLDB: "bootstrap.servers",
    RestService.REST_PROXY: "bootstrap.servers",
}
CONNECT_TOPICS = ("config.storage.topic", "offset.storage.topic", "status.storage.topic")
_DEFAULT_LISTENERS = {
    RestService.CONNECT: "http://:8083",
    RestService.SCHEMA_REGISTRY: "http://0.0.0.0:8081",
    RestService.KSQLDB: "http://0.0.0.0:8088",
    RestService.REST_PROXY: "http://0.0.0.0:8082",
}
_DEFAULT_GROUP = {RestService.SCHEMA_REGISTRY: "schema-registry", RestService.KSQLDB: "default_"}
# Images that are configured by variables with a prefix: the end of their repository, the service, the prefix.
_CONFLUENT_IMAGES = (
    (regex(r"cp-(?:kafka|server)-connect(?:-[a-z]+)?"), RestService.CONNECT, "CONNECT_"),
    (regex(r"(?:cp-)?schema-registry"), RestService.SCHEMA_REGISTRY, "SCHEMA_REGISTRY_"),
    (regex(r"(?:cp-)?ksqldb?-server"), RestService.KSQLDB, "KSQL_"),
    (regex(r"cp-kafka-rest"), RestService.REST_PROXY, "KAFKA_REST_"),
)
_KEYCLOAK_IMAGE = regex(r"(?:.*/)?keycloak/keycloak")
# Its variables, and the options that win over them: KC_HTTP_PORT is --http-port.
_KEYCLOAK_OPTION = regex(r"(?<!\S)--(?P<name>[a-z-]{1,60})[= ](?P<value>[^\s-]\S{0,200})")
_KEYCLOAK_START = regex(r"(?<![\w-])start(?P<dev>-dev)?(?![\w-])")
_DEBEZIUM_IMAGE = regex(r"(?:.*/)?debezium/connect(?:-base)?")
# Variables that tell a worker in an image that nobody knows.
_CONNECT_VARIABLES = frozenset({"CONNECT_GROUP_ID", "CONNECT_CONFIG_STORAGE_TOPIC", "CONNECT_OFFSET_STORAGE_TOPIC"})
_DEBEZIUM_VARIABLES = frozenset({"GROUP_ID", "CONFIG_STORAGE_TOPIC", "OFFSET_STORAGE_TOPIC"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvertisedUrl:
    """The URL that others are told; the host is that of `host_property`, the port that of `port_property`.

    `host_start` and `host_end` are the place of the host in the value of its property.
    """

    scheme: str
    host: str
    port: int
    host_property: str
    port_property: str
    host_start: int = 0
    host_end: int = 0

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestConfig:
    """The properties of one service, by name."""

    service: RestService
    settings: Mapping[str, Setting]

    def value(self, name: str) -> str | None:
        """The text of a property; None where it is absent or unknown."""
        setting = self.settings.get(name)
        return setting.value.strip() if setting is not None and setting.value is not None else None

    def is_unknown(self, name: str) -> bool:
        """Whether a property is given, with a value that cannot be known."""
        setting = self.settings.get(name)
        return setting is not None and setting.value is None

    @property
    def listeners(self) -> str | None:
        """What the service binds, as its own list; None where that is unknown."""
        return None if self.is_unknown("listeners") else self.value("listeners")

    @property
    def entries(self) -> tuple[ListenerEntry, ...]:
        """The entries of that list; none as soon as the service could not read one of them."""
        entries = parse_listeners(self.listeners or "")
        if any(isinstance(entry, MalformedEntry) for entry in entries):
            return ()
        return tuple(entry for entry in entries if isinstance(entry, ListenerEntry))

    @property
    def group(self) -> str | None:
        """What the services that know one another have in common; None where that is unknown."""
        name = GROUP_PROPERTY.get(self.service)
        return (self.value(name) or None) if name else None

    @property
    def advertised(self) -> AdvertisedUrl | None:
        """The URL that others are told; None where only the container itself knows it."""
        match self.service:
            case RestService.CONNECT | RestService.MIRROR_MAKER:
                return self._advertised_by("rest.advertised.host.name", "rest.advertised.port")
            case RestService.SCHEMA_REGISTRY:
                return self._advertised_by("host.name", "")
            case RestService.KSQLDB:
                return self._advertised_listener("ksql.advertised.listener")
            case RestService.REST_PROXY | RestService.KEYCLOAK:
                return None

    def _advertised_by(self, host_property: str, port_property: str) -> AdvertisedUrl | None:
        entry = self._advertised_entry()
        if entry is None or self.is_unknown(host_property) or self.is_unknown(port_property):
            return None
        host, scheme = self.value(host_property), entry.endpoint.listener.lower()
        given = self.value(port_property)
        port = number_of(given) if given else entry.endpoint.port
        if port is None or not 0 < port <= _HIGHEST_PORT:
            return None
        source = port_property if given else "listeners"
        if host:
            start = (self.settings[host_property].value or "").index(host)
            return AdvertisedUrl(
                scheme=scheme,
                host=host,
                port=port,
                host_property=host_property,
                port_property=source,
                host_start=start,
                host_end=start + len(host),
            )
        if self.service is not RestService.SCHEMA_REGISTRY and entry.endpoint.host:
            return AdvertisedUrl(
                scheme=scheme,
                host=entry.endpoint.host,
                port=port,
                host_property="listeners",
                port_property=source,
                host_start=entry.host_start,
                host_end=entry.host_end,
            )
        return None

    def _advertised_entry(self) -> ListenerEntry | None:
        """The listener whose port is told: the first of the protocol that is chosen, or that is there."""
        wanted = self.value("rest.advertised.listener") or self.value("inter.instance.protocol")
        name = self.value("inter.instance.listener.name")
        entries = self.entries
        if name is not None:
            return next((one for one in entries if one.endpoint.listener == name.upper()), None)
        protocols = (wanted.upper(),) if wanted else ("HTTP", "HTTPS")
        return next((one for protocol in protocols for one in entries if one.endpoint.listener == protocol), None)

    def _advertised_listener(self, name: str) -> AdvertisedUrl | None:
        text = self.value(name) or ""
        match = _URL.fullmatch(text)
        if match is None or not match["host"] or not 0 < int(match["port"]) <= _HIGHEST_PORT:
            return None
        shift = (self.settings[name].value or "").index(text)
        return AdvertisedUrl(
            scheme=match["scheme"].lower(),
            host=match["host"],
            port=int(match["port"]),
            host_property=name,
            port_property=name,
            host_start=shift + match.start("host"),
            host_end=shift + match.end("host"),
        )


def is_oauth_url(setting: str) -> bool:
    """Whether a property, or a variable for one, holds the URL of a provider of tokens, or of its keys."""
    return _OAUTH_URL.search(plain_name(setting)) is not None


def plain_name(setting: str) -> str:
    """The name of a setting as images spell it in variables, without the file that it stands in."""
    return setting.partition(" in ")[0].upper().replace(".", "_").replace("-", "_")


def starts_other_program(command: str) -> bool:
    """Whether a command runs something else than the service of its image."""
    return _OTHER_PROGRAMS.search(command) is not None


def with_assigned(environment: Environment, command: str) -> dict[str, str | None]:
    """The variables, without the values of those that the command of the container assigns before it starts."""
    assigned = {match["name"] for match in islice(_ASSIGNED.finditer(command), _MOST_ASSIGNED)}
    return {**environment, **dict.fromkeys(sorted(assigned))}


def split_url(text: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of a URL that a service registered; None where it names no port."""
    match = _URL.fullmatch(text)
    if match is None or not match["host"] or not 0 < int(match["port"]) <= _HIGHEST_PORT:
        return None
    return match["scheme"].lower(), match["host"], int(match["port"])


def rest_config(image: str, environment: Environment, command: str = "") -> RestConfig | None:
    """The configuration of a container of this image; None for one that is none of these services."""
    found = _REPOSITORY.search(image)
    repository, tag = (found["name"], found["tag"]) if found else ("", None)
    name = repository.rpartition("/")[2]
    if _DEBEZIUM_IMAGE.fullmatch(repository) or environment.keys() >= _DEBEZIUM_VARIABLES:
        return _debezium(environment, tag if _DEBEZIUM_IMAGE.fullmatch(repository) else "")
    if _KEYCLOAK_IMAGE.fullmatch(repository):
        return _keycloak(environment, command)
    for pattern, service, prefix in _CONFLUENT_IMAGES:
        if pattern.fullmatch(name):
            return _with_prefix(service, prefix, environment, tag)
    if environment.keys() >= _CONNECT_VARIABLES:
        return _with_prefix(RestService.CONNECT, "CONNECT_", environment, "")
    return None


def rest_config_of_file(command: str, properties: Mapping[str, Setting]) -> RestConfig | None:
    """The configuration of what a command starts with a properties file; None where it forwards nothing."""
    listeners = image_default("listeners", _DEFAULT_LISTENERS[RestService.CONNECT])
    settings = {"listeners": listeners, **properties}
    if command == CONNECT_COMMAND:
        return RestConfig(service=RestService.CONNECT, settings=settings)
    enabled = properties.get(_INTERNAL_REST)
    if enabled is None or (enabled.value or "").lower() != "true":
        return None
    # Each of its clusters has a list of its own.
    lists = [one.value for name, one in sorted(properties.items()) if name.endswith(".bootstrap.servers") and one.value]
    bootstrap = image_default("bootstrap.servers", ",".join(lists))
    return RestConfig(service=RestService.MIRROR_MAKER, settings={**settings, "bootstrap.servers": bootstrap})


def _with_prefix(service: RestService, prefix: str, environment: Environment, tag: str | None) -> RestConfig | None:
    # Confluent's script takes the prefix away once: KSQL_KSQL_SERVICE_ID is ksql.service.id.
    shorter = {
        variable: variable.removeprefix(prefix) for variable in sorted(environment) if variable.startswith(prefix)
    }
    given = {
        name: Setting(name=name, value=environment[variable], variable=variable)
        for variable, rest in shorter.items()
        for name in [unescaped(rest)]
    }
    group = GROUP_PROPERTY.get(service)
    if service is RestService.CONNECT and "group.id" not in given:
        # The image of a worker serves many to install connectors, or for its tools.
        return None
    defaults: dict[str, str | None] = {"listeners": _DEFAULT_LISTENERS[service]}
    if service is RestService.CONNECT:
        defaults["listeners"] = _default_listener(given, tag, _CONFLUENT_WITHOUT_REST_PORT)
    if group is not None and service in _DEFAULT_GROUP:
        defaults[group] = _DEFAULT_GROUP[service]
    given = {name: setting for name, setting in given.items() if setting.value != "" or name != "listeners"}
    return RestConfig(service=service, settings=with_defaults(given, defaults))


def _debezium(environment: Environment, tag: str | None) -> RestConfig:
    given = dotted_settings_from(environment, prefix="CONNECT_", excluded=frozenset())
    for variable, name in _DEBEZIUM.items():
        if environment.get(variable, "") != "":
            given[name] = Setting(name=name, value=environment[variable], variable=variable)
    host = environment.get("HOST_NAME")
    if host and "rest.advertised.host.name" not in given:
        given["rest.advertised.host.name"] = Setting(name="rest.advertised.host.name", value=host, variable="HOST_NAME")
    defaults: dict[str, str | None] = {
        "listeners": _default_listener(given, tag, _DEBEZIUM_WITHOUT_REST_PORT),
        "group.id": "1",
        # The address of the container's last interface.
        "rest.advertised.host.name": None,
        "rest.advertised.port": "8083",
        "status.storage.topic": "connect-status",
    }
    return RestConfig(service=RestService.CONNECT, settings=with_defaults(given, defaults))


def _keycloak(environment: Environment, command: str) -> RestConfig:
    """Keycloak: `start` serves HTTPS, and HTTP only where that is enabled; `start-dev` serves HTTP."""
    given = {variable.removeprefix("KC_").lower().replace("_", "-"): text for variable, text in environment.items()}
    given |= {match["name"]: match["value"] for match in islice(_KEYCLOAK_OPTION.finditer(command), _MOST_ASSIGNED)}
    start = _KEYCLOAK_START.search(command)
    asked = ("http-enabled", "http-port", "https-port", "http-host")
    listeners: list[str] = []
    if start is not None and "config-file" not in given and all(given.get(name, "") is not None for name in asked):
        host = given.get("http-host") or ""
        if given.get("http-enabled", "true" if start["dev"] else "false") == "true":
            listeners.append(f"http://{host}:{given.get('http-port') or 8080}")
        if "https-certificate-file" in given or "https-key-store-file" in given:
            listeners.append(f"https://{host}:{given.get('https-port') or 8443}")
    told = image_default("listeners", ",".join(listeners) or None)
    return RestConfig(service=RestService.KEYCLOAK, settings={"listeners": told})


def _default_listener(given: Mapping[str, Setting], tag: str | None, without: tuple[int, int]) -> str | None:
    """What a worker binds that is given no listeners: older ones look at rest.port, newer ones do not."""
    plain = _DEFAULT_LISTENERS[RestService.CONNECT]
    port = given.get("rest.port")
    if port is None or port.value == "8083":
        return plain
    version = version_of(tag or "")
    if is_floating(tag) or (version is not None and version.at_least(*without)):
        return plain
    return f"http://:{port.value}" if version is not None and port.value else None
