"""What texts tell installers of Python packages to get: commands, lists of requirements, requirements in prose."""

import re
from collections.abc import Iterator

from netdiag import distribution

# As words of a shell, or as the items of a list.
_GAP = r"""(?:[ \t]+|["']?[ \t]*,\s*["']?)"""
_OPTIONS = rf"(?:{_GAP}-[\w-]+)*"
# All operands are packages; or the first one is, and what follows are words for its command.
_INSTALLS = (
    rf"\bpip[\d.]*{_OPTIONS}{_GAP}(?:install|download|wheel)|\bpipx{_OPTIONS}{_GAP}(?:install|inject)"
    rf"|\buv{_OPTIONS}{_GAP}tool{_GAP}install|\b(?:uv|poetry|pdm){_OPTIONS}{_GAP}add|\$[({{]?PIP[)}}]?"
)
_RUNS = rf"\buvx|\buv{_OPTIONS}{_GAP}tool{_GAP}run|\bpipx{_OPTIONS}{_GAP}run"
_COMMAND = re.compile(rf"""(?:(?P<installs>{_INSTALLS})|(?P<runs>{_RUNS}))(?={_GAP}|["'])""")
_END_OF_WORDS = re.compile(r"`|&&|[;|\n]|\s#")
_END_OF_LIST = re.compile(r"""["']\s*[])]|\n\s*\n""")
_PACKAGE_OPTIONS = ("--from", "--spec", "--with")
_VALUE_OPTIONS = (*_PACKAGE_OPTIONS, "-p", "--python", "-i", "--index-url", "--with-requirements")

_LIST = re.compile(r"""dependencies"?[ ]*[:=]\s*(?P<items>\[(?:"[^"]*"|'[^']*'|[^]"'])*\]|(?:[ \t#]*-[ ].*\n?)+)""")
_VARIABLE = re.compile(r"NETDIAG_PACKAGE\b[ ]*[:=][ ]*(?P<items>.*)")
_IN_PROSE = re.compile(
    rf"(?<![\w./-])(?P<items>netdiag[\w.-]*(?:\[(?:{'|'.join(distribution.LIBRARIES)}|all)\b|[=~!<>]=\d))",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?P<name>netdiag(?:[-_.]\w+)*)(?:\[[^]]*\]?)?(?P<rest>.*)", re.IGNORECASE)
_ARCHIVE = re.compile(r"\.(?:whl|zip|tgz|tar\.gz)$")


def commands(text: str) -> Iterator[tuple[int, list[str]]]:
    """The line and the packages of every command of an installer."""
    for found in _COMMAND.finditer(text):
        is_list = "," in found.group() or text[found.end()] in "\"'"
        rest = text[found.end() :] if is_list else re.sub(r"\\\n", "  ", text[found.end() :])
        end = (_END_OF_LIST if is_list else _END_OF_WORDS).search(rest)
        words = _words(rest[: end.start()] if end else rest)
        yield _line(text, found.start()), _first(words) if found["runs"] else words


def foreign(text: str, *, file: str = "") -> list[str]:
    """Line and name of what would get somebody else's package, or one that is not there yet."""
    asked = list(commands(text))
    for pattern in (_LIST, _VARIABLE, _IN_PROSE):
        asked += [(_line(text, match.start()), _words(match["items"])) for match in pattern.finditer(text)]
    if re.fullmatch(r"(?:.*/)?(?:requirements|constraints)[\w.-]*\.(?:txt|in)", file):
        asked += [(number, _words(line)[:2]) for number, line in enumerate(text.splitlines(), 1)]
    allowed = {distribution.NAME, distribution.NATIVE_NAME} if distribution.PUBLISHED else set()
    if file == "pyproject.toml":
        # An extra that is made of the others names the project that it belongs to.
        allowed.add(distribution.NAME)
    found = set()
    for line, words in asked:
        for at, word in enumerate(words):
            name = _distribution(word.rpartition("=")[2] if word.startswith("--") else word)
            if name is not None and name not in allowed and words[at + 1 : at + 2] != ["@"]:
                found.add((line, word))
    return [f"{file}:{line}: {word}" for line, word in sorted(found)]


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _words(text: str) -> list[str]:
    """Without quotes, and without the brackets and commas around words."""
    words = re.split(r"""[\s"'(){}]+|,(?![^\[\s]*\])""", text)
    return [word for word in (word.lstrip("[").rstrip(",") for word in words) if word]


def _first(words: list[str]) -> list[str]:
    """What a runner of commands installs: what its options say, otherwise the package called as the command."""
    packages: list[str] = []
    left = iter(words)
    for word in left:
        option, is_set, value = word.partition("=")
        if not word.startswith("-"):
            return packages if any(word in ("--from", "--spec") for word in words) else [*packages, word]
        if not is_set and option in _VALUE_OPTIONS:
            value = next(left, "")
        if option in _PACKAGE_OPTIONS:
            packages.append(value)
    return packages


def _distribution(word: str) -> str | None:
    """The name on the index that a word asks for, if it is one of ours or looks like one; None for paths and URLs."""
    found = _NAMED.fullmatch(word)
    if found is None or _ARCHIVE.search(found["name"]):
        return None
    if re.match(r"[/\\]|@(?:git\+|https?:|file:)", found["rest"]):
        return None
    return re.sub(r"[-_.]+", "-", found["name"]).lower()
