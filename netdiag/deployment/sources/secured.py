"""Key stores and trust stores that services name and the project holds, opened; and how declared clients connect.

Which file a listener takes is decided by its own properties (`listener.name.NAME.ssl...`) before those of the broker.
Apache's and Confluent's images make some of them of files in /etc/kafka/secrets, if a listener's name ends with "SSL":
`configure` of both. A password is looked up where the service has it, used to open its store, and shown nowhere.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import islice, product
from typing import Protocol

from netdiag.compose.positions import Source, Text, assemble
from netdiag.compose.project import Service
from netdiag.compose.values import ReadFile
from netdiag.deployment.model.deployment import (
    Broker,
    ClientSecurity,
    CreatedUsers,
    DeclaredStore,
    KafkaClient,
    ListenerIdentity,
    ListenerLogin,
    Trust,
)
from netdiag.deployment.sources.client_settings import FileContent
from netdiag.deployment.sources.startup import (
    Line,
    Word,
    command_lines,
    command_words,
    mounted_file,
    mounted_properties,
    simple_commands,
)
from netdiag.errors import InputError
from netdiag.findings import Location
from netdiag.kafka.client_properties import (
    ClientProperties,
    LoginModule,
    Store,
    StoreType,
    client_of,
    parse_jaas_file,
    parse_login_module,
)
from netdiag.kafka.images.reference import ImageFamily
from netdiag.kafka.java_properties import parse_properties
from netdiag.kafka.security import OpenedStore, TrustAnchor
from netdiag.patterns import regex

_TLS = ("SSL", "SASL_SSL")
_SECRETS = "/etc/kafka/secrets"
_BY_SCRIPT = (ImageFamily.APACHE, ImageFamily.CONFLUENT)
_PLAIN_FAMILIES = (*_BY_SCRIPT, ImageFamily.CONFLUENT_LOCAL)
_JAAS_OPTION = regex(r"-Djava\.security\.auth\.login\.config=[\"']?([^\s\"']{1,300})")
_LARGEST_JAAS = 64 * 1024
_CREATES_USERS = regex(r"SCRAM-SHA-\d+=\[|--add-scram|iterations=\d+,password=|=\[(?:name|password)=")
_CREDENTIAL = regex(r"(?P<mechanism>SCRAM-SHA-\d{3})=\[(?P<of>[^\[\]]{1,1000})\]")
# The programs that create users, and the options that tell whom.
_USER_TOOLS = {"kafka-configs": ("--add-config",), "kafka-storage": ("--add-scram", "-S")}
_TOOL_OF_CLASS = {"kafka.admin.ConfigCommand": "kafka-configs", "kafka.tools.StorageTool": "kafka-storage"}
_CREDENTIALS = {
    "ssl.keystore.password": "ssl.keystore.credentials",
    "ssl.key.password": "ssl.key.credentials",
    "ssl.truststore.password": "ssl.truststore.credentials",
}
# A value that a config provider puts there when the broker starts.
_PROVIDED = regex(r"\$\{[^}:]+:")
_IDENTIFICATION = "ssl.endpoint.identification.algorithm"
_CONFIG_OPTION = regex(
    r"(?<![\w-])--?(?:(?:producer\.|consumer\.|command-)?config|config-file|F)(?:=|[ \t\0]{1,9})"
    r"[\"']?(/[^\s\0\"']{1,300})"
)
# More stores, and more pairs of them, than any project has: opening one may take half a second.
_MOST_STORES = 64
_MOST_PAIRS = 2000
_CLIENT_SETTINGS = {
    name.replace(".", ""): name
    for name in (
        "security.protocol",
        "ssl.truststore.location",
        "ssl.truststore.type",
        "ssl.truststore.password",
        "ssl.truststore.certificates",
        "ssl.keystore.location",
        "ssl.keystore.type",
        "ssl.keystore.password",
        "ssl.key.password",
        _IDENTIFICATION,
        "sasl.mechanism",
        "sasl.jaas.config",
    )
}
_IS_ABOUT = regex(r"(?i)ssl|sasl|security")
_MOST_RELATED = 200
_MIDDLES = ("", "PROPERTIES_", "CLIENT_", "STREAMS_", "CONFIGURATION_")


class StoreTools(Protocol):
    """How stores are opened and chains followed, with what is installed."""

    can_verify: bool

    def open_store(self, store: Store, data: bytes | None, *, has_key: bool) -> OpenedStore:
        """What a store holds; `data` is its file, None where its text stands in the settings."""
        ...

    def anchored(self, chain: Sequence[bytes], authorities: Sequence[bytes]) -> TrustAnchor:
        """Where a chain leads to."""
        ...

    def now(self) -> datetime:
        """The present."""
        ...


LoadTools = Callable[[], StoreTools]


class Stores:
    """Opens the stores of one project, each once; without tools it opens none."""

    def __init__(self, load: LoadTools | None, read: ReadFile) -> None:
        self._load = load
        self._read = read
        self._opened: dict[tuple[Store, bytes | None, bool], OpenedStore] = {}

    def declared(
        self, service: Service, store: Store | None, *, has_key: bool, setting: str, where: Location
    ) -> DeclaredStore | None:
        """A store with what is in it, where the project holds the file or the settings hold its text."""
        if store is None:
            return None
        data = None
        if store.location is not None:
            mounted = mounted_file(service, store.location, self._read) if store.location.startswith("/") else None
            # A password that nobody sees may be set all the same.
            is_locked = store.type is not StoreType.PEM and store.password is None
            if mounted is None or mounted.data is None or is_locked:
                return DeclaredStore(store=store, setting=setting, where=where)
            data = mounted.data
        return DeclaredStore(store=store, setting=setting, where=where, opened=self._open(store, data, has_key=has_key))

    def trust(self) -> Trust:
        """Where the chains in the stores that were opened lead to."""
        opened = dict.fromkeys(self._opened.values())
        if self._load is None or not opened:
            return Trust()
        tools = self._load()
        shown = [one for one in opened if one.chain]
        trusted = [one for one in opened if one.trusted]
        return Trust(
            anchors={
                (own, other): tools.anchored(own.chain_ders, other.trusted_ders)
                for own, other in islice(product(shown, trusted), _MOST_PAIRS)
            },
            now=tools.now(),
            is_verified=tools.can_verify,
        )

    def _open(self, store: Store, data: bytes | None, *, has_key: bool) -> OpenedStore | None:
        key = (store, data, has_key)
        if key not in self._opened:
            if self._load is None or len(self._opened) == _MOST_STORES:
                return None
            self._opened[key] = self._load().open_store(store, data, has_key=has_key)
        return self._opened[key]


def listener_identities(broker: Broker, service: Service, read: ReadFile, stores: Stores) -> Iterator[ListenerIdentity]:
    """What each listener with TLS of a broker shows, trusts and checks."""
    config = broker.config
    secured = [name for name, protocol in config.protocol_map.items() if protocol.upper() in _TLS]
    bound = {entry.endpoint.listener for entry in config.listeners}
    if not bound.intersection(secured):
        return
    values = _values(broker, service, read)
    by_script = config.family in _BY_SCRIPT and _asks_for_secrets(broker)
    for listener in secured:
        if listener in bound:
            settings = _ListenerSettings(broker, service, read, values, listener, by_script=by_script)
            yield ListenerIdentity(
                listener=listener,
                keystore=settings.declared("keystore", stores),
                truststore=settings.declared("truststore", stores),
                needs_client=settings.needs_client(with_login=config.protocol_map[listener].upper() == "SASL_SSL"),
                checks_names=bool((settings.value(_IDENTIFICATION, "https") or "").strip()),
            )


def listener_logins(broker: Broker, service: Service, read: ReadFile) -> Iterator[ListenerLogin]:
    """What each listener with SASL of a broker asks of clients, where its image passes variables on unchanged."""
    config = broker.config
    if config.family not in _PLAIN_FAMILIES or broker.is_configured_by_file:
        return
    values = _values(broker, service, read)
    sections = _jaas_sections(service, values, read)
    for entry in config.listeners:
        listener = entry.endpoint.listener
        if not config.protocol_map.get(listener, "").upper().startswith("SASL_"):
            continue
        prefix = f"listener.name.{listener.lower()}."
        own = f"{prefix}sasl.enabled.mechanisms"
        enabled = values.get(own) if own in values else values.get("sasl.enabled.mechanisms", "GSSAPI")
        if enabled is None:
            continue
        mechanisms = tuple(word.strip() for word in enabled.split(",") if word.strip())
        names = {one: f"{prefix}{one.lower()}.sasl.jaas.config" for one in mechanisms}
        modules = {one: _modules(values, names[one], listener, sections) for one in mechanisms}
        plain = modules.get("PLAIN")
        written = next((name for name in names.values() if name in values), "advertised.listeners")
        is_own = any("callback.handler.class" in name for name in values)
        is_own |= any(not one.name.endswith(".PlainLoginModule") for one in plain or ())
        yield ListenerLogin(
            listener=listener,
            mechanisms=mechanisms,
            where=broker.place(written),
            users=None if plain is None or is_own else {u: p for one in plain for u, p in one.users.items()},
            own=_own_login(modules.get(config.value("sasl.mechanism.inter.broker.protocol") or "GSSAPI")),
            missing=tuple(one for one, found in modules.items() if found == ()),
        )


def _modules(
    values: Mapping[str, str | None], name: str, listener: str, sections: Mapping[str, tuple[LoginModule, ...]] | None
) -> tuple[LoginModule, ...] | None:
    """The modules for a mechanism; none where there is no entry, None where nobody can tell."""
    if name in values:
        value = values[name]
        with suppress(InputError):
            return None if value is None or _PROVIDED.search(value) else (parse_login_module(value),)
        return None
    if sections is None:
        return None
    return sections.get(f"{listener.lower()}.KafkaServer") or sections.get("KafkaServer", ())


def _own_login(modules: tuple[LoginModule, ...] | None) -> tuple[str, str] | None:
    for module in modules or ():
        if "username" in module.options and "password" in module.options:
            return module.options["username"], module.options["password"]
    return None


def _jaas_sections(
    service: Service, values: Mapping[str, str | None], read: ReadFile
) -> Mapping[str, tuple[LoginModule, ...]] | None:
    """The sections of the JAAS file that the JVM is given; None where it cannot be read."""
    options = service.environment.get("KAFKA_OPTS")
    if options is not None and options.value is None:
        return None
    named = _JAAS_OPTION.search(options.value.value) if options is not None and options.value is not None else None
    if named is None:
        return None if command_words(service) != ((), ()) or service.lacks_env_file else {}
    mounted = mounted_file(service, named[1], read)
    data = None if mounted is None else mounted.data
    if data is None or len(data) > _LARGEST_JAAS:
        return None
    with suppress(InputError):
        return parse_jaas_file(data.decode("utf-8", errors="replace"))
    return None


def created_users(services: Iterable[Service], read: ReadFile) -> CreatedUsers:
    """The users of SCRAM that commands and mounted scripts create."""
    passwords: dict[tuple[str, str], str | None] = {}
    is_whole = True
    for service in services:
        variables = {name: one.value for name, one in service.environment.items() if one.value is not None}
        scripts = tuple(_scripts(service, read))
        words = [word.text for line in command_words(service) for word in line]
        mentioned = _mentions(one.value for one in (*words, *scripts, *variables.values()))
        if not mentioned:
            continue
        understood = 0
        for line in (*command_lines(service), *(line for one in scripts for line in simple_commands(one, variables))):
            credentials = tuple(_credentials(line))
            understood += _mentions(word.value for word in line) if credentials else 0
            for mechanism, user, password in credentials:
                known = passwords.setdefault((mechanism, user), password)
                passwords[mechanism, user] = password if known == password else None
        # What is left stands in a loop, in another program or in a variable for one.
        is_whole = is_whole and understood >= mentioned
    return CreatedUsers(passwords=passwords, is_whole=is_whole)


def _mentions(texts: Iterable[str]) -> int:
    return sum(len(_CREATES_USERS.findall(text)) for text in texts)


def _scripts(service: Service, read: ReadFile) -> Iterator[Text]:
    for volume in service.volumes[:_MOST_STORES]:
        if volume.type != "bind" or volume.host_path is None or not volume.target.endswith((".sh", ".bash")):
            continue
        path = posixpath.normpath(volume.host_path)
        data = read(path)
        text = data.decode("utf-8", errors="replace") if data is not None else ""
        if text:
            yield assemble(Source(path, text), [(text, 0, len(text))], 0, len(text))


def _credentials(line: Line) -> Iterator[tuple[str, str, str | None]]:
    """Mechanism, user and password of each credential that a command creates; nothing where a shell makes the user."""
    words = [word.value for word in line]
    program = next((one for one in map(_program, words) if one in _USER_TOOLS), "")
    options: list[tuple[str, Word]] = []
    for index, word in enumerate(line):
        name, equals, _ = word.value.partition("=")
        if equals and name.startswith("--"):
            options.append((name, word.slice(len(name) + 1, len(word.value))))
        elif word.value.startswith("-") and index + 1 < len(line):
            options.append((word.value, line[index + 1]))
    if program == "kafka-configs":
        users = [value for name, value in options if name in ("--entity-name", "--user")]
        if len(users) != 1 or users[0].is_open:
            return
    for name, value in options:
        if name not in _USER_TOOLS.get(program, ()):
            continue
        for match in _CREDENTIAL.finditer(value.value):
            given = {key: text.strip("\"'") for key, _, text in (one.partition("=") for one in match["of"].split(","))}
            user = users[0].value if program == "kafka-configs" else given.get("name", "")
            if user and not ("$" in user or "`" in user):
                yield match["mechanism"], user, None if value.is_open else given.get("password")


def _program(word: str) -> str:
    return _TOOL_OF_CLASS.get(word) or posixpath.basename(word).removesuffix(".sh")


def client_security(
    client: KafkaClient, service: Service, *, read: ReadFile, file: FileContent, stores: Stores
) -> KafkaClient:
    """The client with what the settings beside its list, or the file that its command names, say of its security."""
    values = _client_settings(client, service, file)
    properties = _client_properties(values)
    if properties is None:
        return client
    where = client.declared.at()

    def declared(store: Store | None, *, has_key: bool) -> DeclaredStore | None:
        setting = client.declared.variable if store is None or store.location is None else store.location
        return stores.declared(service, store, has_key=has_key, setting=setting, where=where)

    security = ClientSecurity(
        properties=properties,
        is_whole=client.configured or client.declared.variable.endswith(".properties"),
        truststore=declared(properties.truststore, has_key=False),
        keystore=declared(properties.keystore, has_key=True),
    )
    protocol = client.protocol or values.get("security.protocol", "").upper() or None
    return replace(client, security=security, protocol=protocol)


def _values(broker: Broker, service: Service, read: ReadFile) -> Mapping[str, str | None]:
    """The properties of a broker; those that it reads from a file are without secrets elsewhere."""
    values = {name: setting.value for name, setting in broker.config.settings.items()}
    return {**values, **{name: text.value for name, text in mounted_properties(broker, service, read).items()}}


def _client_settings(client: KafkaClient, service: Service, file: FileContent) -> Mapping[str, str]:
    """Properties of the client by their names in Kafka; empty where none are known."""
    text = client.declared.value
    if client.configured:
        words = "\0".join(word.value for line in command_words(service) for word in line)
        paths = set(_CONFIG_OPTION.findall(words))
        content = file(paths.pop()) if len(paths) == 1 else None
        return {} if content is None else parse_properties(content.value)
    if client.declared.variable.endswith(".properties"):
        return parse_properties(text)
    return _settings_beside(client.declared.variable, client.member.variables)


def _settings_beside(name: str, variables: Mapping[str, str]) -> Mapping[str, str]:
    """What the variables with the same prefix as that of the list say."""
    related = islice((pair for pair in variables.items() if _IS_ABOUT.search(pair[0])), _MOST_RELATED)
    plain = {re.sub(r"[_.:-]+", "_", other).upper(): value for other, value in related}
    own = re.sub(r"[_.:-]+", "_", name).upper()
    prefix = re.sub(r"(?:BOOTSTRAP_?)?(?:SERVERS?|BROKERS?)(?:_?LIST)?$", "", own)
    if prefix == own:
        return {}
    found: dict[str, str] = {}
    for middle in _MIDDLES:
        for variable, value in plain.items():
            rest = variable.removeprefix(prefix + middle) if variable.startswith(prefix + middle) else ""
            known = _CLIENT_SETTINGS.get(rest.replace("_", "").lower())
            if known is not None:
                found.setdefault(known, value.removeprefix("file:") if known.endswith("location") else value)
    return found


def _client_properties(values: Mapping[str, str]) -> ClientProperties | None:
    if not any(name.startswith(("ssl.", "sasl.", "security.")) for name in values):
        return None
    with suppress(InputError):
        return client_of(values)
    # The login may stand elsewhere, the certificates are here.
    tls = {name: value for name, value in values.items() if not name.startswith("sasl.")}
    if tls.get("security.protocol", "").upper() != "SASL_SSL":
        return None
    with suppress(InputError):
        return client_of({**tls, "security.protocol": "SSL"})
    return None


def _asks_for_secrets(broker: Broker) -> bool:
    advertised = broker.declared.get("KAFKA_ADVERTISED_LISTENERS")
    return advertised is not None and "SSL://" in advertised.value


class _ListenerSettings:
    """The properties of one listener."""

    def __init__(
        self,
        broker: Broker,
        service: Service,
        read: ReadFile,
        values: Mapping[str, str | None],
        listener: str,
        *,
        by_script: bool,
    ) -> None:
        self._broker = broker
        self._service = service
        self._read = read
        self._values = values
        self._prefix = f"listener.name.{listener.lower()}."
        self._by_script = by_script

    def value(self, name: str, default: str | None = None) -> str | None:
        """A property of the listener, else of the broker; None where it is unknown or not set."""
        own = self._prefix + name
        return self._values[own] if own in self._values else self._values.get(name, default)

    def needs_client(self, *, with_login: bool) -> bool:
        """Whether a client without a certificate is refused; who logs in needs none unless the listener itself asks."""
        name = f"{self._prefix}ssl.client.auth"
        asked = self._values.get(name) if with_login else self.value("ssl.client.auth")
        return (asked or "").strip().lower() == "required"

    def declared(self, which: str, stores: Stores) -> DeclaredStore | None:
        """The store that the listener takes, opened where it can be; None where nobody can tell which."""
        name = f"ssl.{which}.location"
        own, by_script = self._prefix + name, self._file_of_script(name, f"ssl.{which}.filename")
        location, kind = by_script or self.value(name), self.value(f"ssl.{which}.type", "JKS")
        password, key_password = self._secret(f"ssl.{which}.password"), self._secret("ssl.key.password")
        is_provided = any(value and _PROVIDED.search(value) for value in (location, password, key_password))
        if not location or kind is None or kind.upper() not in [*StoreType] or is_provided:
            return None
        store = Store(
            type=StoreType(kind.upper()),
            location=posixpath.normpath(location),
            password=password,
            key_password=key_password if which == "keystore" else None,
        )
        written = f"ssl.{which}.filename" if by_script else own if own in self._values else name
        setting = self._broker.config.settings.get(written)
        return stores.declared(
            self._service,
            store,
            has_key=which == "keystore",
            setting=(setting.variable if setting else None) or written,
            where=self._broker.place(written),
        )

    def _secret(self, name: str) -> str | None:
        file = self._file_of_script(name, _CREDENTIALS[name])
        if file is None:
            return self.value(name)
        mounted = mounted_file(self._service, file, self._read)
        if mounted is None or mounted.data is None:
            return None
        # The script takes what `cat` prints, without the line ends behind it.
        return mounted.data.decode("utf-8", errors="replace").rstrip("\n")

    def _file_of_script(self, name: str, given_by: str) -> str | None:
        """The file in the folder of secrets that a variable names, where the image's script makes a property of it."""
        given = self._values.get(given_by) if self._by_script and self._prefix + name not in self._values else None
        return posixpath.join(_SECRETS, given) if given else None
