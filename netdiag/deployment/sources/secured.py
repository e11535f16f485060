"""Key stores and trust stores that services name and the project holds, opened; and how declared clients connect.

Which file a listener takes is decided by its own properties (`listener.name.NAME.ssl...`) before those of the broker.
Apache's and Confluent's images make some of them of files in /etc/kafka/secrets, if a listener's name ends with "SSL":
`configure` of both. A password is looked up where the service has it, used to open its store, and shown nowhere.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import islice, product
from typing import Protocol

from netdiag.compose.project import Service
from netdiag.compose.values import ReadFile
from netdiag.deployment.model.deployment import (
    Broker,
    ClientSecurity,
    DeclaredStore,
    KafkaClient,
    ListenerIdentity,
    Trust,
)
from netdiag.deployment.sources.client_settings import FileContent
from netdiag.deployment.sources.startup import command_words, mounted_file, mounted_properties
from netdiag.errors import InputError
from netdiag.findings import Location
from netdiag.kafka.client_properties import ClientProperties, Store, StoreType, client_of, parse_properties
from netdiag.kafka.images.reference import ImageFamily
from netdiag.kafka.security import OpenedStore, TrustAnchor
from netdiag.patterns import regex

_TLS = ("SSL", "SASL_SSL")
_SECRETS = "/etc/kafka/secrets"
_BY_SCRIPT = (ImageFamily.APACHE, ImageFamily.CONFLUENT)
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
            if mounted is None or mounted.source is None:
                return DeclaredStore(store=store, setting=setting, where=where)
            data = mounted.source.data
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
    values = {name: setting.value for name, setting in config.settings.items()}
    # What is read from a file is without secrets there.
    values |= {name: text.value for name, text in mounted_properties(broker, service, read).items()}
    by_script = config.family in _BY_SCRIPT and _asks_for_secrets(broker)
    for listener in secured:
        if listener in bound:
            settings = _ListenerSettings(broker, service, read, values, listener, by_script=by_script)
            yield ListenerIdentity(
                listener=listener,
                keystore=settings.declared("keystore", stores),
                truststore=settings.declared("truststore", stores),
                checks_names=bool((settings.value(_IDENTIFICATION, "https") or "").strip()),
            )


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
        truststore=declared(properties.truststore, has_key=False),
        keystore=declared(properties.keystore, has_key=True),
    )
    protocol = client.protocol or values.get("security.protocol", "").upper() or None
    return replace(client, security=security, protocol=protocol)


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
    plain = {re.sub(r"[_.:-]+", "_", other).upper(): value for other, value in variables.items()}
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
        if mounted is None or mounted.source is None:
            return None
        # The script takes what `cat` prints, without the line ends behind it.
        return mounted.source.data.decode("utf-8", errors="replace").rstrip("\n")

    def _file_of_script(self, name: str, given_by: str) -> str | None:
        """The file in the folder of secrets that a variable names, where the image's script makes a property of it."""
        given = self._values.get(given_by) if self._by_script and self._prefix + name not in self._values else None
        return posixpath.join(_SECRETS, given) if given else None
