"""The options of `docker create` and `docker run` that decide who reaches a container.

Source: the reference of `docker container run` and of `podman run`. An option that is not known here takes the word
after it, unless it is one of those that take none.
"""

from collections.abc import Sequence
from dataclasses import field

from netdiag.compose.positions import Text
from netdiag.values import dataclass

_SWITCHES = frozenset(
    {
        "-d", "-i", "-t", "-P", "-q", "--detach", "--init", "--interactive", "--no-healthcheck", "--oom-kill-disable",
        "--privileged", "--publish-all", "--quiet", "--read-only", "--rm", "--sig-proxy", "--tty", "--replace",
        "--tls-verify", "--disable-content-trust", "--use-api-socket", "--help",
    }
)  # fmt: skip
_SHORT_WITH_VALUE = frozenset("aceghlmpuvw")
_LONG = {
    "-p": "--publish", "-e": "--env", "-h": "--hostname", "-v": "--volume", "-u": "--user", "-l": "--label",
    "--net": "--network", "--net-alias": "--network-alias",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerOptions:
    """The options by their long name, each with its values in their order, and the words behind them.

    `image_at` is the number of the word that is the image, None where there is none.
    """

    values: dict[str, list[Text]] = field(default_factory=dict)
    switches: frozenset[str] = frozenset()
    rest: tuple[Text, ...] = ()

    def all(self, name: str) -> tuple[Text, ...]:
        """Every value of an option."""
        return tuple(self.values.get(name, ()))

    def last(self, name: str) -> Text | None:
        """The value that counts of an option that may be given once."""
        found = self.values.get(name)
        return found[-1] if found else None


def docker_options(words: Sequence[Text]) -> DockerOptions:
    """The options at the beginning of `words`, up to the first word that is none."""
    values: dict[str, list[Text]] = {}
    switches: set[str] = set()
    index = 0
    while index < len(words):
        word = words[index]
        text = word.value
        if not text.startswith("-") or text == "-":
            break
        index += 1
        if text == "--":
            break
        name, equals, _ = text.partition("=")
        if name.startswith("--"):
            if name in _SWITCHES:
                switches.add(name)
            elif equals:
                values.setdefault(_LONG.get(name, name), []).append(word.slice(len(name) + 1, len(text)))
            elif index < len(words):
                values.setdefault(_LONG.get(name, name), []).append(words[index])
                index += 1
            continue
        for at, letter in enumerate(text[1:], 1):
            if letter not in _SHORT_WITH_VALUE:
                switches.add(f"-{letter}")
                continue
            key = _LONG.get(f"-{letter}", f"-{letter}")
            if at + 1 < len(text):
                start = at + 2 if text[at + 1] == "=" else at + 1
                values.setdefault(key, []).append(word.slice(start, len(text)))
            elif index < len(words):
                values.setdefault(key, []).append(words[index])
                index += 1
            break
    return DockerOptions(values=values, switches=frozenset(switches), rest=tuple(words[index:]))
