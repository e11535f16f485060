"""Containers that Testcontainers starts: whose they are, and the script that starts the broker in them.

A broker has to advertise a port that the engine chooses. So these libraries start a shell that waits for a script, ask
which port it is, and then copy the script into the container: it exports the advertised listeners and runs the image.
Redpanda gets them as flags in the script (Python, .NET), or in a redpanda.yaml that its command waits for (Java, Go,
Node).

Source: the labels, Kafka and Redpanda modules of testcontainers-java 2.0, -python 4.15, -go, -node and -dotnet as of
August 2026.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from typing import Protocol

from netdiag.engine.container import Container
from netdiag.patterns import regex

LABEL = "org.testcontainers"
LANGUAGE_LABEL = f"{LABEL}.lang"
# Java and Go; Python, Node and .NET; .NET where a reaper of one's own is named. A reused container has none.
SESSION_LABELS = (f"{LABEL}.sessionId", f"{LABEL}.session-id", f"{LABEL}.resource-reaper-session")
_REAPER_LABELS = (f"{LABEL}.ryuk", f"{LABEL}.reaper")
_REAPER_IMAGE = "testcontainers/ryuk"
LABELS = (LABEL, LANGUAGE_LABEL, *SESSION_LABELS, *_REAPER_LABELS)

ADVERTISED = "KAFKA_ADVERTISED_LISTENERS"

_WAITS = regex(
    r"while \[ ! -f (?P<path>/[A-Za-z0-9_./-]{1,200}) \]; do sleep [0-9.]{1,8}; done; (?:(?:ba)?sh )?(?P=path)"
)
_REDPANDA_WAITS = "/entrypoint-tc.sh"
_REDPANDA_FILE = "/etc/redpanda/redpanda.yaml"
# Until it is there, the file is the image's own.
_INJECTED = "# Injected by testcontainers"
_EXPORT = regex(r"\s*export\s+([A-Za-z_]\w*)=")
_MOST_LINES = 1000
# The first digits tell sessions apart.
_ID_SHOWN = 8
MOST_OF_SCRIPT = 64 * 1024
# What Confluent's images write from their variables; the libraries that have a shell compute an address start no other.
_GENERATED = "/etc/kafka/kafka.properties"
_WRITTEN = regex(r"^[ \t]*advertised\.listeners[ \t]*[=:](.*)$", re.MULTILINE)


class Labelled(Protocol):
    """What the engine tells of a container in every answer."""

    @property
    def image(self) -> str: ...

    @property
    def labels(self) -> Mapping[str, str]: ...


class Library(Enum):
    """The library that started a container; the value is the word of its label."""

    JAVA = "java"
    PYTHON = "python"
    GO = "go"
    NODE = "node"
    DOTNET = "dotnet"
    OTHER = ""

    @property
    def title(self) -> str:
        """What people call it."""
        return _TITLES[self]


_TITLES = {
    Library.JAVA: "Testcontainers for Java",
    Library.PYTHON: "Testcontainers for Python",
    Library.GO: "Testcontainers for Go",
    Library.NODE: "Testcontainers for Node.js",
    Library.DOTNET: "Testcontainers for .NET",
    Library.OTHER: "Testcontainers",
}


def library_of(container: Labelled) -> Library | None:
    """The library that started it; None where none did."""
    if container.labels.get(LABEL) != "true":
        return None
    word = container.labels.get(LANGUAGE_LABEL)
    return next((library for library in Library if library.value == word), Library.OTHER)


def session_of(container: Labelled) -> str | None:
    """The session that it belongs to: that of one process of tests; None where no label says so."""
    return next((found for label in SESSION_LABELS if (found := container.labels.get(label))), None)


def session_title(container: Labelled) -> str:
    """The library that started it and the beginning of its session's id; empty where none did."""
    library, session = library_of(container), session_of(container)
    if library is None:
        return ""
    return library.title if session is None else f"{library.title}, session {session[:_ID_SHOWN]}"


def is_reaper(container: Labelled) -> bool:
    """Whether it is the one that removes the others when their session ends."""
    repository = container.image.partition("@")[0].rpartition("/")
    return any(container.labels.get(label) == "true" for label in _REAPER_LABELS) or (
        library_of(container) is not None
        and f"{repository[0].rpartition('/')[2]}/{repository[2].partition(':')[0]}" == _REAPER_IMAGE
    )


def awaited_script(container: Container) -> str | None:
    """The path of the script that its command waits for; None where it waits for none."""
    words = (*container.entrypoint, *container.command)
    if not any("while [ ! -f" in word for word in words):
        return None
    found = _WAITS.search(" ".join(words))
    return found["path"] if found else None


def awaited_file(container: Container) -> str | None:
    """The path of the script or of the redpanda.yaml that its command waits for; None where it waits for none."""
    words = (*container.entrypoint, *container.command)
    return _REDPANDA_FILE if words[:1] == (_REDPANDA_WAITS,) else awaited_script(container)


def exported(container: Container) -> Mapping[str, str | None]:
    """The variables that its start script exports; None is a value that a shell computes, and nobody has read.

    Before the script is there, the advertised listeners are such a value.
    """
    if awaited_script(container) is None:
        return {}
    if not container.start_script:
        return {ADVERTISED: None}
    found = {name: _value(text) for name, text in exports(container.start_script)}
    if container.advertised and ADVERTISED in found:
        found[ADVERTISED] = container.advertised
    return found


def exports(script: str) -> Iterator[tuple[str, str]]:
    """The names that a script exports, each with what stands behind its sign of equality."""
    for line in script.splitlines()[:_MOST_LINES]:
        match = _EXPORT.match(line)
        if match is not None:
            yield match[1], line[match.end() :]


def with_script(container: Container, read: Callable[[str], bytes | None]) -> Container:
    """With the script that it waits for, and what this has computed; `read` gives a small file of the container."""
    path = awaited_file(container)
    if path == _REDPANDA_FILE:
        return _with_redpanda_file(container, read)
    script = (read(path) if path is not None else None) or b""
    if not script:
        return container
    told = replace(container, start_script=script.decode("utf-8", errors="replace"))
    if redpanda_start(told.start_script):
        return _with_redpanda_file(told, read)
    if exported(told).get(ADVERTISED, "") is not None:
        return told
    generated = (read(_GENERATED) or b"").decode("utf-8", errors="replace")
    written = _WRITTEN.findall(generated)
    return replace(told, advertised=written[-1].strip().replace("\\:", ":")) if written else told


def redpanda_start(script: str) -> tuple[str, ...]:
    """The words of the line of a script that starts Redpanda; none where no line does."""
    for line in script.replace("\\\n", " ").splitlines()[:_MOST_LINES]:
        if "redpanda start" in line:
            try:
                return tuple(shlex.split(line))
            except ValueError:
                return ()
    return ()


def _with_redpanda_file(container: Container, read: Callable[[str], bytes | None]) -> Container:
    text = (read(_REDPANDA_FILE) or b"").decode("utf-8", errors="replace")
    return replace(container, config_file=text) if text.startswith(_INJECTED) else container


def _value(text: str) -> str | None:
    """One word of a shell; None where the shell would compute it, or there is no such word."""
    if "$" in text or "`" in text:
        return None
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    return words[0] if words else ""
