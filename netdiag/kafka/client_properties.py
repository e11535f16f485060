"""How a client connects, from a client.properties file as Kafka's own Java tools take it.

Of all settings those that decide whether a connection and a login succeed, with the names and defaults of Kafka's
`CommonClientConfigs`, `SslConfigs` and `SaslConfigs`. What names a file is not opened here. Secrets are in no `repr`;
an `InputError` says which setting is wrong and never its value, where that could be one.
"""

import re
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from netdiag.errors import InputError
from netdiag.kafka.java_properties import parse_properties
from netdiag.patterns import regex
from netdiag.values import dataclass

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
TLS_VERSIONS = ("TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3")
_DEFAULT_VERSIONS = ("TLSv1.2", "TLSv1.3")
_FLAGS = {"required", "requisite", "sufficient", "optional"}
_TOKEN = regex(r"""\s*(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|([^\s"'=;]+)|([=;]))""")
# A quote that nobody closes takes the rest of its line, so that no character is looked at twice.
_JAAS_TOKEN = regex(r"""\s*(?:"((?:[^"\\\n]|\\.)*)("?)|'((?:[^'\\\n]|\\.)*)('?)|([{}=;]|[^\s"'={};]+))""")
_JAAS_COMMENT = regex(r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\[^\n])*"?|'(?:[^'\\\n]|\\[^\n])*'?""", re.DOTALL)
_ESCAPE = regex(r"\\([0-3]?[0-7]{1,2}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b", "a": "\a", "v": "\v"}
_PROVIDER = regex(r"\$\{[^}:]+:")


class StoreType(StrEnum):
    """The types of key and trust stores that Kafka takes, PEM beside Java's own."""

    JKS = "JKS"
    PKCS12 = "PKCS12"
    PEM = "PEM"


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A keystore or truststore: a file, or PEM text that stands in the settings themselves.

    `key_password` protects the private key; for a file that is no PEM it is the store's own where none is given.
    """

    type: StoreType
    location: str | None = None
    certificates: str = ""
    key: str = field(default="", repr=False)
    password: str | None = field(default=None, repr=False)
    key_password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientProperties:
    """How a client connects and logs in. `checks_names`: the certificate must cover the host asked for."""

    security_protocol: str = "PLAINTEXT"
    truststore: Store | None = None
    keystore: Store | None = None
    checks_names: bool = True
    versions: tuple[str, ...] = _DEFAULT_VERSIONS
    mechanism: str = ""
    username: str = ""
    password: str = field(default="", repr=False)

    @property
    def uses_tls(self) -> bool:
        """Whether the connection begins with a handshake."""
        return self.security_protocol in ("SSL", "SASL_SSL")

    @property
    def uses_sasl(self) -> bool:
        """Whether requests come after a login."""
        return self.security_protocol in ("SASL_PLAINTEXT", "SASL_SSL")


def parse_client_properties(text: str, *, where: str | None = None) -> ClientProperties:
    """The client of a file's text; `where` names the file in errors."""
    values = parse_properties(text)
    try:
        return client_of(values)
    except InputError as error:
        raise InputError(error.message, where=where, hint=error.hint) from None


def client_of(values: Mapping[str, str]) -> ClientProperties:
    """The client of settings by their names in Kafka; InputError says which of them cannot be right."""
    for name, value in values.items():
        if name.startswith(("ssl.", "sasl.", "security.")) and _PROVIDER.search(value):
            raise InputError(f"{name} takes its value from a config provider, which netdiag does not read")
    protocol = values.get("security.protocol", "PLAINTEXT").upper()
    if protocol not in PROTOCOLS:
        raise InputError(f"security.protocol must be one of {', '.join(PROTOCOLS)}")
    tls, sasl = protocol in ("SSL", "SASL_SSL"), protocol.startswith("SASL_")
    mechanism, username, password = _login(values) if sasl else ("", "", "")
    return ClientProperties(
        security_protocol=protocol,
        truststore=_truststore(values) if tls else None,
        keystore=_keystore(values) if tls else None,
        checks_names=_checks_names(values),
        versions=_versions(values) if tls else _DEFAULT_VERSIONS,
        mechanism=mechanism,
        username=username,
        password=password,
    )


def _checks_names(values: Mapping[str, str]) -> bool:
    algorithm = values.get("ssl.endpoint.identification.algorithm", "https").lower()
    if algorithm not in ("", "https"):
        raise InputError("ssl.endpoint.identification.algorithm must be https or empty")
    return bool(algorithm)


def _versions(values: Mapping[str, str]) -> tuple[str, ...]:
    named = [name.strip() for name in values.get("ssl.enabled.protocols", "").split(",") if name.strip()]
    unknown = [name for name in named if name not in TLS_VERSIONS]
    if unknown:
        raise InputError(f"ssl.enabled.protocols has {unknown[0][:40]!r}; it takes {', '.join(TLS_VERSIONS)}")
    return tuple(version for version in TLS_VERSIONS if version in named) or _DEFAULT_VERSIONS


def _store_type(values: Mapping[str, str], name: str) -> StoreType:
    given = values.get(name, "JKS").upper()
    try:
        return StoreType(given)
    except ValueError:
        raise InputError(f"{name} must be one of {', '.join(StoreType)}") from None


def _truststore(values: Mapping[str, str]) -> Store | None:
    kind = _store_type(values, "ssl.truststore.type")
    location, certificates = values.get("ssl.truststore.location"), values.get("ssl.truststore.certificates", "")
    if certificates and (kind is not StoreType.PEM or location):
        raise InputError("ssl.truststore.certificates needs ssl.truststore.type=PEM, without ssl.truststore.location")
    if not location and not certificates:
        return None
    password = values.get("ssl.truststore.password")
    if kind is StoreType.PEM and password is not None:
        raise InputError("ssl.truststore.password cannot be set for PEM")
    return Store(type=kind, location=location or None, certificates=certificates, password=password)


def _keystore(values: Mapping[str, str]) -> Store | None:
    kind = _store_type(values, "ssl.keystore.type")
    location = values.get("ssl.keystore.location")
    key, chain = values.get("ssl.keystore.key", ""), values.get("ssl.keystore.certificate.chain", "")
    if (key or chain) and (kind is not StoreType.PEM or location):
        raise InputError("ssl.keystore.key needs ssl.keystore.type=PEM, without ssl.keystore.location")
    if bool(key) != bool(chain):
        raise InputError("ssl.keystore.key and ssl.keystore.certificate.chain need each other")
    if not location and not key:
        return None
    password, key_password = values.get("ssl.keystore.password"), values.get("ssl.key.password")
    if kind is StoreType.PEM and password is not None:
        raise InputError("ssl.keystore.password cannot be set for PEM", hint="set ssl.key.password")
    if kind is not StoreType.PEM and password is None:
        raise InputError("ssl.keystore.location needs ssl.keystore.password")
    return Store(
        type=kind, location=location or None, certificates=chain, key=key, password=password, key_password=key_password
    )


def _login(values: Mapping[str, str]) -> tuple[str, str, str]:
    """Mechanism, user and password; the latter two are empty for mechanisms without them."""
    mechanism = values.get("sasl.mechanism", "GSSAPI")
    if not re.fullmatch(r"[A-Z0-9_-]{1,40}", mechanism):
        raise InputError("sasl.mechanism is not a valid name")
    config = values.get("sasl.jaas.config")
    if config is None:
        raise InputError("a login needs sasl.jaas.config, which is not set")
    options = parse_jaas(config)
    if mechanism == "PLAIN" or mechanism.startswith("SCRAM-"):
        for name in ("username", "password"):
            if name not in options:
                raise InputError(f"sasl.jaas.config has no {name}")
    return mechanism, options.get("username", ""), options.get("password", "")


def parse_jaas(text: str) -> dict[str, str]:
    """The options of the one login module in sasl.jaas.config: `MODULE required NAME="VALUE" ... ;`."""
    tokens = list(_tokens(text))
    broken = InputError('sasl.jaas.config is not: MODULE required NAME="VALUE" ...;')
    if len(tokens) < 3 or tokens[1].lower() not in _FLAGS or tokens[-1] != ";" or tokens.count(";") > 1:
        raise broken
    middle = tokens[2:-1]
    if len(middle) % 3 or any(equals != "=" for equals in middle[1::3]):
        raise broken
    return {str(name): str(value) for name, value in zip(middle[::3], middle[2::3], strict=True)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginModule:
    """One module of a JAAS section: its class and its options."""

    name: str
    options: Mapping[str, str] = field(repr=False)

    @property
    def users(self) -> Mapping[str, str]:
        """The passwords of the users that a broker's PLAIN module knows, by name."""
        return {name.removeprefix("user_"): value for name, value in self.options.items() if name.startswith("user_")}


def parse_jaas_file(text: str) -> Mapping[str, tuple[LoginModule, ...]]:
    """The modules of each section of a JAAS file, `NAME { MODULE FLAG OPTION="VALUE" ...; };`; else InputError."""
    tokens = [_token_of(match) for match in _JAAS_TOKEN.finditer(_JAAS_COMMENT.sub(_without_comment, text))]
    found: dict[str, tuple[LoginModule, ...]] = {}
    position = 0
    while position < len(tokens):
        if tokens[position + 1 : position + 2] != ["{"]:
            raise InputError("it is no JAAS configuration")
        name, position = str(tokens[position]), position + 2
        modules: list[LoginModule] = []
        while tokens[position : position + 1] not in ([], ["}"]):
            end = next((i for i in range(position, len(tokens)) if tokens[i] == ";"), len(tokens))
            modules.append(_login_module(tokens[position:end]))
            position = end + 1
        if tokens[position : position + 2] != ["}", ";"]:
            raise InputError("it is no JAAS configuration")
        found.setdefault(name, tuple(modules))
        position += 2
    return found


def parse_login_module(text: str) -> LoginModule:
    """The module of `sasl.jaas.config`."""
    options = parse_jaas(text)
    return LoginModule(name=_tokens(text)[0], options=options)


def _login_module(words: list[str]) -> LoginModule:
    pairs = words[2:]
    is_sound = len(words) >= 2 and words[1].lower() in _FLAGS and len(pairs) % 3 == 0
    if not is_sound or any(equals != "=" for equals in pairs[1::3]):
        raise InputError("it is no JAAS configuration")
    options = {str(name): str(value) for name, value in zip(pairs[::3], pairs[2::3], strict=True)}
    return LoginModule(name=words[0], options=options)


def _token_of(match: re.Match[str]) -> str:
    if match[5] is not None:
        return match[5]
    quoted, end = (match[1], match[2]) if match[1] is not None else (match[3], match[4])
    if not end:
        raise InputError("it is no JAAS configuration")
    return _Quoted(_ESCAPE.sub(_unescaped, quoted))


def _without_comment(match: re.Match[str]) -> str:
    return match[0] if match[0][0] in "\"'" else " "


class _Quoted(str):
    """A value that was in quotes, so that a ";" in it does not end the entry."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Quoted) and str.__eq__(self, other)

    __hash__ = str.__hash__


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise InputError("sasl.jaas.config has an unclosed quote")
        quoted = match[1] if match[1] is not None else match[2]
        found.append(_Quoted(_ESCAPE.sub(_unescaped, quoted)) if quoted is not None else match[3] or match[4])
        position = match.end()
    return found


def _unescaped(match: re.Match[str]) -> str:
    text = match[1]
    return chr(int(text, 8)) if text[0] in "01234567" else _ESCAPES.get(text, text)
