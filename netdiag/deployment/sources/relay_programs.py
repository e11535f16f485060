"""Where relays lead: the command lines and configuration files of programs that pass connections on.

Each function takes text and gives `Forwarding`s with the places of the targets in that text. Only what stands there as
it is counts: a variable, a pattern, an included file, TLS that ends here or another protocol than TCP leads nowhere
that can be told. The texts are foreign: they are read up to `LARGEST_TEXT` characters and `MOST` ports, and nothing in
them is executed.

Sources: socat(1), ssh(1), ssh_config(5), `kubectl port-forward --help`, the manuals of HAProxy (2.6 to 3.2), nginx's
ngx_stream_core_module and ngx_stream_proxy_module, Envoy's config.listener.v3 and tcp_proxy.v3, toxiproxy's README.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError
from netdiag.compose.yaml_tree import AliasNode, MappingNode, Node, ScalarNode, SequenceNode, load_nodes
from netdiag.patterns import regex
from netdiag.values import dataclass

LARGEST_TEXT = 64 * 1024
MOST = 100
_HOST_PORT = regex(r"(?:\[(?P<number>[0-9A-Fa-f:.]{2,45})\]|(?P<host>[A-Za-z0-9_.*-]{0,253})):(?P<port>\d{1,5})\Z")
_ALL = frozenset({"", "*", "0.0.0.0", "::"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardingTarget:
    """An address that a relay connects to, at characters start..end of the text, in word `word` of a command."""

    host: str
    port: int
    start: int
    end: int
    word: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarding:
    """A port that a program listens on and where it leads; the fields are those of `Relay`."""

    program: str
    host: str
    port: int
    targets: tuple[ForwardingTarget, ...]
    through: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationFile:
    """The file by which a program is told where to lead."""

    program: str
    path: str


def forwardings_in_command(words: Sequence[str], image: str = "") -> tuple[Forwarding, ...]:
    """What the words of one command tell a relay to do; `image` is one whose entry point is not among the words."""
    started = _ENTRY_POINT.search(image)
    if started is not None:
        return tuple(islice(_COMMANDS[started[1]](words, 0), MOST))
    for index, word in enumerate(words):
        read = _COMMANDS.get(posixpath.basename(word))
        if read is not None:
            return tuple(islice(read(words, index + 1), MOST))
    return ()


def configuration_file(words: Sequence[str], image: str) -> ConfigurationFile | None:
    """The file that a command or the image's own command names; None for other programs."""
    for index, word in enumerate(words):
        program = _PROGRAMS.get(posixpath.basename(word))
        if program is not None:
            return _named_file(program, words[index + 1 :])
    found = _IMAGE.search(image)
    return _named_file(_PROGRAMS[found[1]], words) if found is not None else None


def forwardings_in_file(program: str, source: Source) -> tuple[Forwarding, ...]:
    """What a configuration file tells a relay to do."""
    read = _FILES.get(program)
    if read is None or len(source.data) > LARGEST_TEXT:
        return ()
    try:
        return tuple(islice(read(source), MOST))
    except (UnicodeDecodeError, ComposeError):
        return ()


def _named_file(program: str, words: Sequence[str]) -> ConfigurationFile:
    options, usual = _OPTIONS[program]
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name not in options:
            continue
        path = value if equals else next(iter(words[index + 1 :]), "")
        return ConfigurationFile(program=program, path=path)
    return ConfigurationFile(program=program, path=usual)


def _host_port(text: str, start: int = 0, word: int = 0) -> ForwardingTarget | None:
    """host:port as a target; None for anything else."""
    found = _HOST_PORT.match(text)
    if found is None or not 0 < int(found["port"]) < 65536:
        return None
    host = found["number"] or found["host"]
    return ForwardingTarget(host=host, port=int(found["port"]), start=start, end=start + len(text), word=word)


def _forwarding(program: str, listening: ForwardingTarget | None, *targets: ForwardingTarget) -> Iterator[Forwarding]:
    if listening is not None and targets:
        host = "" if listening.host in _ALL else listening.host
        yield Forwarding(program=program, host=host, port=listening.port, targets=targets)


# socat


_LISTEN = regex(r"(?i)TCP[46]?-L(?:ISTEN)?:(\d{1,5})((?:,.*)?)\Z")
_CONNECT = regex(r"(?i)TCP[46]?(?:-CONNECT)?:([^,]+)")
_BIND = regex(r"(?i),bind=\[?([^],]+)\]?")


def _socat(words: Sequence[str], start: int) -> Iterator[Forwarding]:
    listening = target = None
    for index in range(start, len(words)):
        accepts, connects = _LISTEN.match(words[index]), _CONNECT.match(words[index])
        if accepts is not None:
            bind = _BIND.search(accepts[2])
            listening = _host_port(f"{_bracketed(bind[1]) if bind else ''}:{accepts[1]}")
        elif connects is not None:
            target = _host_port(connects[1], connects.start(1), index)
    if target is not None:
        yield from _forwarding("socat", listening, target)


# ssh -L, autossh -L

# Options of ssh(1) that take a value.
_SSH_VALUES = "BbcDEeFIiJLlmOoPpQRSWw"
_FORWARD = regex(
    r"(?:(?P<bind>\[[0-9A-Fa-f:.]{2,45}\]|[^:\s]{0,253}):)?(?P<port>\d{1,5}):"
    r"(?P<target>(?:\[[0-9A-Fa-f:.]{2,45}\]|[^:\s/]{1,253}):\d{1,5})\Z"
)


def _autossh(words: Sequence[str], start: int) -> Iterator[Forwarding]:
    return _ssh(words, start, _SSH_VALUES + "M")


def _ssh(words: Sequence[str], start: int, valued_letters: str = _SSH_VALUES) -> Iterator[Forwarding]:
    forwards: list[tuple[int, int, str]] = []
    gateway, destination, index = False, "", start
    while index < len(words):
        word = words[index]
        if not word.startswith("-") or word == "-":
            destination = word
            break
        letters = word[1:]
        valued = next((at for at, letter in enumerate(letters) if letter in valued_letters), None)
        gateway = gateway or "g" in letters[:valued]
        if valued is not None:
            rest = letters[valued + 1 :]
            at, offset, value = (index, valued + 2, rest) if rest else (index + 1, 0, words[index + 1 : index + 2])
            text = value if isinstance(value, str) else "".join(value)
            if letters[valued] == "L":
                forwards.append((at, offset, text))
            gateway = gateway or (letters[valued] == "o" and text.lower().replace(" ", "=") == "gatewayports=yes")
            index = at
        index += 1
    through = re.sub(r"\Assh://|:\d+\Z", "", destination).rpartition("@")[2]
    for at, offset, text in forwards:
        found = _FORWARD.match(text)
        if found is None or not through:
            continue
        bind = (found["bind"] or ("*" if gateway and found["bind"] is None else "127.0.0.1")).strip("[]")
        target = _host_port(found["target"], offset + found.start("target"), at)
        if found["bind"] == "":
            bind = "*"
        if bind == "localhost":
            bind = "127.0.0.1"
        if target is not None:
            for one in _forwarding("ssh -L", _host_port(f"{_bracketed(bind)}:{found['port']}"), target):
                yield replace(one, through=through)


# kubectl port-forward

_KUBECTL_FLAGS = frozenset({"-n", "--namespace", "--context", "--kubeconfig", "--cluster", "--user", "-s", "--server"})
_PORTS = regex(r"(?:(?P<local>\d{1,5}):)?(?P<remote>\d{1,5})\Z")


def _kubectl(words: Sequence[str], start: int) -> Iterator[Forwarding]:
    if "port-forward" not in words[start:]:
        return
    address, plain, index = "127.0.0.1", list[int](), start
    while index < len(words):
        name, equals, value = words[index].partition("=")
        if name == "--address":
            address = value if equals else "".join(words[index + 1 : index + 2])
        if name in _KUBECTL_FLAGS or name == "--address":
            index += 1 if equals else 2
            continue
        if not name.startswith("-") and name != "port-forward":
            plain.append(index)
        index += 1
    if not plain:
        return
    pod = words[plain[0]].rpartition("/")[2]
    for at in plain[1:]:
        found = _PORTS.match(words[at])
        if found is None:
            continue
        bind = "127.0.0.1" if address.split(",")[0] == "localhost" else address.split(",")[0]
        listening = _host_port(f"{_bracketed(bind)}:{found['local'] or found['remote']}")
        target = _host_port(f"localhost:{found['remote']}")
        if target is not None:
            placed = replace(target, word=at, start=found.start("remote"), end=found.end("remote"))
            for one in _forwarding("kubectl port-forward", listening, placed):
                yield replace(one, through=pod)


# HAProxy

_SECTION = regex(r"(?:global|defaults|frontend|backend|listen|resolvers|peers|userlist|mailers|cache|program)\Z")
_WORD = regex(r"#.*|\"([^\"\n]*)\"|'([^'\n]*)'|((?:\\.|[^\s\"'#\\])+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    kind: str
    name: str
    mode: str
    binds: tuple[ForwardingTarget, ...] = ()
    servers: tuple[ForwardingTarget, ...] = ()
    backends: tuple[str, ...] = ()


def _haproxy(source: Source) -> Iterator[Forwarding]:
    sections: list[_Section] = []
    mode = "tcp"
    for line, words in _lines(source.text):
        if _SECTION.match(words[0][0]):
            kind = words[0][0]
            inherited = "tcp" if kind == "defaults" else mode
            sections.append(_Section(kind=kind, name=words[1][0] if len(words) > 1 else "", mode=inherited))
        elif sections:
            sections[-1] = _with_line(sections[-1], line, words)
            if sections[-1].kind == "defaults":
                mode = sections[-1].mode
    servers = {one.name: one.servers for one in sections if one.kind in ("backend", "listen")}
    for one in sections:
        if one.kind not in ("frontend", "listen") or one.mode != "tcp":
            continue
        targets = (*one.servers, *(target for name in one.backends for target in servers.get(name, ())))[:MOST]
        for bind in one.binds:
            yield from _forwarding("HAProxy", bind, *targets)


def _with_line(section: _Section, start: int, words: Sequence[tuple[str, int]]) -> _Section:
    values = [value for value, _ in words]
    match values:
        case ["mode", mode, *_]:
            return replace(section, mode=mode)
        case ["bind", _, *options] if "ssl" in options:
            return section
        case ["bind", where, *_]:
            found = (_host_port(one.removeprefix("ipv4@").removeprefix("ipv6@")) for one in where.split(","))
            return replace(section, binds=(*section.binds, *filter(None, found)))
        case ["server", _, address, *rest]:
            target = _host_port(address, start + words[2][1])
            if target is None or "backup" in rest or "disabled" in rest:
                return section
            return replace(section, servers=(*section.servers, target))
        case [("default_backend" | "use_backend"), name, *_]:
            return replace(section, backends=(*section.backends, name))
    return section


def _lines(text: str) -> Iterator[tuple[int, list[tuple[str, int]]]]:
    """The lines with words: where each starts, and its words with their offsets in it."""
    start = 0
    for line in text.split("\n"):
        words = [
            (next(filter(None, found.groups()), ""), found.start(found.lastindex or 0))
            for found in _WORD.finditer(line)
            if found.lastindex
        ]
        if words:
            yield start, words
        start += len(line) + 1


# nginx

_TOKEN = regex(r"#[^\n]*|\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)'|([{};])|([^\s{};\"'#]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Directive:
    """A directive of nginx: its words with their offsets, and what stands in its block."""

    words: tuple[tuple[str, int], ...]
    block: tuple["_Directive", ...] = ()

    @property
    def name(self) -> str:
        return self.words[0][0]

    def named(self, name: str) -> Iterator["_Directive"]:
        return (one for one in self.block if one.name == name)


_DEEPEST = 10


def _nginx(source: Source) -> Iterator[Forwarding]:
    root = _directives(source.text)
    for stream in root.named("stream"):
        upstreams = {
            one.words[1][0]: [target for server in one.named("server") for target in _address_of(server, 1)]
            for one in stream.named("upstream")
            if len(one.words) > 1
        }
        for server in stream.named("server"):
            passes = next(server.named("proxy_pass"), None)
            if passes is None or len(passes.words) < 2:
                continue
            targets = upstreams.get(passes.words[1][0]) or list(_address_of(passes, 1))
            for listen in server.named("listen"):
                if len(listen.words) > 1 and not {"udp", "ssl"} & {word for word, _ in listen.words}:
                    where = listen.words[1][0]
                    bound = _host_port(f":{where}" if where.isdigit() else where)
                    yield from _forwarding("nginx", bound, *targets[:MOST])


def _address_of(directive: _Directive, index: int) -> Iterator[ForwardingTarget]:
    if len(directive.words) > index and "down" not in (word for word, _ in directive.words):
        word, start = directive.words[index]
        target = _host_port(word, start)
        if target is not None:
            yield target


def _directives(text: str) -> _Directive:
    """The blocks of a file, below a directive without words; what is not closed ends with the file."""
    open_blocks: list[tuple[tuple[tuple[str, int], ...], list[_Directive]]] = [((), [])]
    words: list[tuple[str, int]] = []
    for found in _TOKEN.finditer(text):
        if found.lastindex is None:
            continue
        mark = found[3]
        if mark is None:
            words.append((found[found.lastindex], found.start(found.lastindex)))
            continue
        if mark == "{":
            if len(open_blocks) > _DEEPEST:
                break
            open_blocks.append((tuple(words), []))
        elif mark == ";" and words:
            open_blocks[-1][1].append(_Directive(words=tuple(words)))
        elif mark == "}" and len(open_blocks) > 1:
            _close(open_blocks)
        words = []
    while len(open_blocks) > 1:
        _close(open_blocks)
    return _Directive(words=(("", 0),), block=tuple(open_blocks[0][1]))


def _close(open_blocks: list[tuple[tuple[tuple[str, int], ...], list[_Directive]]]) -> None:
    words, block = open_blocks.pop()
    if words:
        open_blocks[-1][1].append(_Directive(words=words, block=tuple(block)))


# Envoy

_TCP_PROXY = regex(r"\Aenvoy\.filters\.network\.tcp_proxy\Z|\Aenvoy\.tcp_proxy\Z")


def _envoy(source: Source) -> Iterator[Forwarding]:
    for document in load_nodes(source):
        resources = _field(document, "static_resources")
        clusters = {
            _value(_field(one, "name")): [
                target
                for locality in _items(_field(_field(one, "load_assignment"), "endpoints"))
                for endpoint in _items(_field(locality, "lb_endpoints"))
                for target in _socket_address(_field(_field(endpoint, "endpoint"), "address"), source)
            ]
            for one in _items(_field(resources, "clusters"))
        }
        for listener in _items(_field(resources, "listeners")):
            for bound in _socket_address(_field(listener, "address"), source):
                for chain in _items(_field(listener, "filter_chains")):
                    if _field(chain, "transport_socket") is not None:
                        # It ends TLS: what it passes on is not what the client says.
                        continue
                    for each in _items(_field(chain, "filters")):
                        if _TCP_PROXY.search(_value(_field(each, "name"))):
                            name = _value(_field(_field(each, "typed_config"), "cluster"))
                            yield from _forwarding("Envoy", bound, *clusters.get(name, ())[:MOST])


def _socket_address(node: Node | None, source: Source) -> Iterator[ForwardingTarget]:
    """The two fields of an address, which stand apart: the place is that of the port."""
    address = _field(node, "socket_address")
    host, port = _value(_field(address, "address")), _field(address, "port_value")
    target = _host_port(f"{_bracketed(host)}:{_value(port)}")
    if target is not None and port is not None:
        yield replace(target, start=port.start, end=port.end)


# toxiproxy


def _toxiproxy(source: Source) -> Iterator[Forwarding]:
    for document in load_nodes(source):
        for proxy in _items(document):
            if _value(_field(proxy, "enabled")) == "false":
                continue
            listen, upstream = _field(proxy, "listen"), _field(proxy, "upstream")
            target = _host_port(_value(upstream))
            if target is not None and upstream is not None:
                quoted = isinstance(upstream, ScalarNode) and upstream.style is not None
                placed = replace(target, start=upstream.start + quoted, end=upstream.end - quoted)
                yield from _forwarding("toxiproxy", _host_port(_value(listen)), placed)


def _field(node: Node | None, name: str) -> Node | None:
    node = _followed(node)
    if not isinstance(node, MappingNode):
        return None
    return next((value for key, value in node.pairs if _value(key) == name), None)


def _items(node: Node | None) -> tuple[Node, ...]:
    node = _followed(node)
    return node.items[:MOST] if isinstance(node, SequenceNode) else ()


def _value(node: Node | None) -> str:
    node = _followed(node)
    return node.value if isinstance(node, ScalarNode) else ""


def _followed(node: Node | None) -> Node | None:
    return node.target if isinstance(node, AliasNode) else node


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


_COMMANDS: Mapping[str, Callable[[Sequence[str], int], Iterator[Forwarding]]] = {
    "socat": _socat,
    "ssh": _ssh,
    "autossh": _autossh,
    "kubectl": _kubectl,
}
_ENTRY_POINT = regex(r"(?:^|/)(socat|autossh|kubectl)(?:[:@]|$)")
_PROGRAMS = {
    "haproxy": "HAProxy",
    "nginx": "nginx",
    "envoy": "Envoy",
    "toxiproxy": "toxiproxy",
    "toxiproxy-server": "toxiproxy",
}
_IMAGE = regex(r"(?:^|/)(haproxy|nginx|envoy|toxiproxy)(?:[-\w.]*)?(?:[:@]|$)")
# The options that name the file, and the path where the image has it.
_OPTIONS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "HAProxy": (("-f",), "/usr/local/etc/haproxy/haproxy.cfg"),
    "nginx": (("-c",), "/etc/nginx/nginx.conf"),
    "Envoy": (("-c", "--config-path"), "/etc/envoy/envoy.yaml"),
    "toxiproxy": (("-config", "--config"), ""),
}
_FILES: Mapping[str, Callable[[Source], Iterator[Forwarding]]] = {
    "HAProxy": _haproxy,
    "nginx": _nginx,
    "Envoy": _envoy,
    "toxiproxy": _toxiproxy,
}
