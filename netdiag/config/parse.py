"""TOML text becomes a Configuration, strictly: an unknown key or a value of the wrong type is an error with its line.

`-` and `_` are the same in a key. Rule ids are not known here: the caller says what is one.
"""

import ipaddress
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from netdiag.config import ClientAddress, Configuration, ExternalNetwork, Facts, assumed_name
from netdiag.errors import UsageError
from netdiag.findings import FileLocation, Severity
from netdiag.patterns import regex

_NAME = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_DOTTED = rf"{_NAME}(?:[ \t]*\.[ \t]*{_NAME})*"
_TABLE_LINE = regex(rf"[ \t]*\[\[?[ \t]*({_DOTTED})[ \t]*\]\]?[ \t]*(?:#.*)?\r?$")
_KEY_LINE = regex(rf"[ \t]*({_DOTTED})[ \t]*=")
TABLE = ("tool", "netdiag")
KEYS = (
    "select",
    "ignore",
    "per-file-ignores",
    "severity",
    "fail-on",
    "profiles",
    "env-files",
    "docker-host-ip",
    "docker-desktop",
    "host-clients",
    "lan-clients",
    "images",
    "external-networks",
    "assume-resolves",
)
NETWORK_KEYS = ("members", "subnets")
_BOOTSTRAP = regex(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:,/\[\]]+):(?P<port>\d{1,5})")
_LONGEST_SHOWN = 60
CheckRule = Callable[[str], None]


def parse(path: str, data: bytes, known: CheckRule, *, table: Sequence[str] = ()) -> Configuration | None:
    """The configuration in a file, or in a table of it; None where the file has no such table.

    `known` raises ValueError for what is no rule, with words for the user. Raises UsageError.
    """
    text = _decoded(path, data)
    document: Any = _toml(path, text)
    for name in table:
        document = document.get(name) if isinstance(document, dict) else None
    if document is None:
        return None
    return _Reader(path, text, tuple(table), known).configuration(document)


def line_of(text: str, path: Sequence[str], value: str | None = None) -> int | None:
    """The line (from 1) of a key, or of a string in the value of this key; None where it is not found."""
    wanted = tuple(path)
    lines = text.split("\n")
    near: tuple[int, int] | None = None
    for number, full in _key_lines(lines):
        if full[: len(wanted)] == wanted:
            return number if value is None else _line_with(lines, number, value)
        if wanted[: len(full)] == full and (near is None or len(full) > near[0]):
            near = (len(full), number)
    if near is None:
        return None
    # The key stands in a table that is written on one line.
    return near[1] if value is None else _line_with(lines, near[1], value)


def column_of(text: str, line: int, value: str) -> int | None:
    """The column (from 1) of a string in a line."""
    found = text.split("\n")[line - 1].find(value)
    return None if found < 0 else found + 1


def _decoded(path: str, data: bytes) -> str:
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError("not UTF-8", where=f"{path}:{line}") from error


def _toml(path: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", message)
        line = place[1] or text.rstrip("\n").count("\n") + 1 if place else None
        where = f"{path}:{line}" if line else path
        said = message[: place.start()] if place else message
        raise UsageError(f"not TOML: {said[:1].lower()}{said[1:]}", where=where) from error
    except (RecursionError, ValueError) as error:
        raise UsageError("not TOML: too deep or too large for the parser", where=path) from error


class _Reader:
    """Reads one file; knows its lines."""

    def __init__(self, path: str, text: str, table: tuple[str, ...], known: CheckRule) -> None:
        self._path = path
        self._text = text
        self._table = table
        self._known = known

    def configuration(self, document: Any) -> Configuration:
        values = self._fields(document, (), KEYS)
        severities: dict[str, Severity] = {}
        for (name, value), path in self._entries(values, "severity"):
            self._rule(name, path)
            severities[name] = self._severity(value, path)
        ignores = {glob: self._rules(value, path) for (glob, value), path in self._entries(values, "per-file-ignores")}
        select, ignore, profiles, env_files = (values.get(key) for key in ("select", "ignore", "profiles", "env-files"))
        fail_on = values.get("fail-on")
        return Configuration(
            path=self._path,
            select=None if select is None else self._rules(select[1], select[0]),
            ignore=() if ignore is None else self._rules(ignore[1], ignore[0]),
            per_file_ignores=ignores,
            severities=severities,
            fail_on=None if fail_on is None else self._severity(fail_on[1], fail_on[0]),
            profiles=None if profiles is None else self._texts(profiles[1], profiles[0]),
            env_files=() if env_files is None else self._texts(env_files[1], env_files[0]),
            facts=self._facts(values),
        )

    def _facts(self, values: Mapping[str, tuple[tuple[str, ...], Any]]) -> Facts:
        desktop = values.get("docker-desktop")
        if desktop is not None and not isinstance(desktop[1], bool):
            self._wrong(desktop[0], "must be true or false")
        addresses = values.get("docker-host-ip")
        images: dict[str, str] = {}
        for (name, value), path in self._entries(values, "images"):
            if not isinstance(value, str) or not value.strip():
                self._wrong(path, 'must be an image, like "confluentinc/cp-kafka:7.9.2"')
            images[name] = value
        return Facts(
            host_clients=self._clients(values, "host-clients"),
            lan_clients=self._clients(values, "lan-clients"),
            host_addresses=() if addresses is None else self._addresses(addresses[1], addresses[0]),
            images=images,
            external_networks={
                name: self._network(value, path) for (name, value), path in self._entries(values, "external-networks")
            },
            docker_desktop=None if desktop is None else desktop[1],
            resolves=dict(
                self._name(name, value, path) for (name, value), path in self._entries(values, "assume-resolves")
            ),
        )

    def _name(self, name: str, value: Any, path: tuple[str, ...]) -> tuple[str, str]:
        try:
            return assumed_name(name, value)
        except (ValueError, AttributeError):
            self._wrong(path, 'must be an address like "192.168.1.20", or "" for a name that does not resolve')

    def _network(self, value: Any, path: tuple[str, ...]) -> ExternalNetwork:
        fields = self._fields(value, path, NETWORK_KEYS)
        members, subnets = fields.get("members"), fields.get("subnets")
        found = () if subnets is None else self._texts(subnets[1], subnets[0])
        for subnet in found:
            try:
                ipaddress.ip_network(subnet, strict=False)
            except ValueError:
                self._wrong((*path, "subnets"), f"must be subnets like 10.1.0.0/16, not {_shown(subnet)}", subnet)
        return ExternalNetwork(members=None if members is None else self._texts(members[1], members[0]), subnets=found)

    def _clients(self, values: Mapping[str, tuple[tuple[str, ...], Any]], key: str) -> tuple[ClientAddress, ...]:
        if key not in values:
            return ()
        path, value = values[key]
        found = []
        for item in self._texts(value, path):
            match = _BOOTSTRAP.fullmatch(item)
            if match is None or not 0 < int(match["port"]) < 65536:
                self._wrong(path, f"must be addresses like localhost:9092, not {_shown(item)}", item)
            host = match["host"].strip("[]")
            found.append(ClientAddress(host=host, port=int(match["port"]), where=self._place(path, item)))
        return tuple(found)

    def _addresses(self, value: Any, path: tuple[str, ...]) -> tuple[str, ...]:
        found = []
        for item in self._texts([value] if isinstance(value, str) else value, path):
            try:
                found.append(str(ipaddress.ip_address(item)))
            except ValueError:
                self._wrong(path, f"must be addresses like 192.168.1.20, not {_shown(item)}", item)
        return tuple(found)

    def _fields(self, value: Any, path: tuple[str, ...], keys: Sequence[str]) -> dict[str, tuple[tuple[str, ...], Any]]:
        """The values of a table by key, each with its path as written."""
        if not isinstance(value, dict):
            self._wrong(path, "must be a table")
        found: dict[str, tuple[tuple[str, ...], Any]] = {}
        for written, item in value.items():
            key, here = written.replace("_", "-"), (*path, written)
            if key not in keys:
                self._fail(here, f"unknown key {_shown(written)}{_suggestion(key, keys)}")
            if key in found:
                self._fail(here, f"{key} is set twice")
            found[key] = (here, item)
        return found

    def _entries(
        self, values: Mapping[str, tuple[tuple[str, ...], Any]], key: str
    ) -> list[tuple[tuple[str, Any], tuple[str, ...]]]:
        """The entries of a table whose keys are the user's own, each with its path."""
        if key not in values:
            return []
        path, value = values[key]
        if not isinstance(value, dict):
            self._wrong(path, "must be a table")
        return [((name, item), (*path, name)) for name, item in value.items()]

    def _texts(self, value: Any, path: tuple[str, ...]) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
            self._wrong(path, "must be a list of strings")
        return tuple(item.strip() for item in value)

    def _rules(self, value: Any, path: tuple[str, ...]) -> tuple[str, ...]:
        patterns = self._texts(value, path)
        for pattern in patterns:
            self._rule(pattern, path, pattern)
        return patterns

    def _rule(self, pattern: str, path: tuple[str, ...], value: str | None = None) -> None:
        try:
            self._known(pattern)
        except ValueError as error:
            self._fail(path, str(error), value)

    def _severity(self, value: Any, path: tuple[str, ...]) -> Severity:
        try:
            return Severity(value)
        except ValueError:
            self._wrong(path, f"must be {', '.join(s.value for s in Severity)}, not {_shown(value)}")

    def _wrong(self, path: tuple[str, ...], wanted: str, value: str | None = None) -> NoReturn:
        self._fail(path, f"{'.'.join(path) or '.'.join(self._table)} {wanted}", value)

    def _fail(self, path: tuple[str, ...], message: str, value: str | None = None) -> NoReturn:
        line = line_of(self._text, (*self._table, *path), value)
        raise UsageError(message, where=self._path if line is None else f"{self._path}:{line}")

    def _place(self, path: tuple[str, ...], value: str) -> FileLocation | None:
        line = line_of(self._text, (*self._table, *path), value)
        column = None if line is None else column_of(self._text, line, value)
        if line is None or column is None:
            return None
        lines = self._text.split("\n")
        before = "\n".join([*lines[: line - 1], lines[line - 1][: column - 1]])
        start = len(before.encode())
        return FileLocation(
            path=self._path,
            line=line,
            column=column,
            end_line=line,
            end_column=column + len(value),
            start=start,
            end=start + len(value.encode()),
        )


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str) else type(value).__name__
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _suggestion(key: str, keys: Sequence[str]) -> str:
    import difflib

    close = difflib.get_close_matches(key, keys, 1)
    return f'; did you mean "{close[0]}"?' if close else f"; there are {', '.join(keys)}"


def _key_lines(lines: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    table: tuple[str, ...] = ()
    for number, line in enumerate(lines, 1):
        header = _TABLE_LINE.match(line)
        if header:
            table = _key_parts(header[1])
            yield number, table
            continue
        key = _KEY_LINE.match(line)
        if key:
            yield number, (*table, *_key_parts(key[1]))


def _key_parts(dotted: str) -> tuple[str, ...]:
    try:
        node: object = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    found: list[str] = []
    while isinstance(node, dict):
        ((name, node),) = node.items()
        found.append(name)
    return tuple(found)


def _line_with(lines: Sequence[str], first: int, value: str) -> int:
    for number in range(first, len(lines) + 1):
        if f'"{value}"' in lines[number - 1] or f"'{value}'" in lines[number - 1]:
            return number
    return first
