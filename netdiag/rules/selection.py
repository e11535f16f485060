"""Which rules apply to which files, and with which severity, by patterns of ids.

A pattern is an id, the beginning of ids up to a dash (`kraft-`), or `all`. If `select` and `ignore` of one place both
match, the longer pattern wins, and `ignore` wins a tie.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from netdiag.findings import FileLocation, Finding, Severity
from netdiag.values import dataclass

EVERY = "all"
# Findings without a rule module: about declared clients and about what netdiag was asked to ignore.
WITHOUT_RULE: Mapping[str, str] = {
    "declared-client-fails": "Clients declared in the configuration cannot use Kafka.",
    "stale-baseline": "An entry of the baseline no longer matches a finding.",
    "unused-ignore": "A comment ignores findings that do not occur.",
}


class UnknownRule(ValueError):
    """A pattern that matches no rule; the message names it and suggests one that does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The choice of one place: `select` of None keeps the previous choice, `ignore` removes ids from it."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChoice:
    """Ids to ignore in files that match `glob`, a pattern relative to `folder`."""

    glob: str
    folder: str
    rules: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The chosen ids (None: all), those ignored in some files, and severities that replace those of rules."""

    rules: frozenset[str] | None = None
    elsewhere: tuple[FileChoice, ...] = ()
    severities: Mapping[str, Severity] = field(default_factory=dict)

    def includes(self, rule: str, path: str = "", root: str = "") -> bool:
        """Whether a rule applies to a file, whose path is relative to the folder `root`."""
        if self.rules is not None and rule not in self.rules:
            return False
        left_out = (item for item in self.elsewhere if rule in item.rules)
        return not (path and any(matches(item.glob, _from(path, root, item.folder)) for item in left_out))

    def of(self, findings: Iterable[Finding], root: str = "") -> tuple[Finding, ...]:
        """The chosen findings, with the chosen severities."""
        return tuple(self._graded(f) for f in findings if self.includes(f.rule, _path(f), root))

    def _graded(self, finding: Finding) -> Finding:
        severity = self.severities.get(finding.rule, finding.severity)
        return finding if severity is finding.severity else replace(finding, severity=severity)


def known_ids() -> tuple[str, ...]:
    """Every id that a finding can have, in order."""
    from netdiag.rules.all_rules import ALL  # every rule: whoever names none does not pay for it

    return tuple(sorted((*(rule.ID for rule in ALL), *WITHOUT_RULE)))


def expanded(pattern: str) -> frozenset[str]:
    """The ids that a pattern stands for; UnknownRule when there are none."""
    ids = known_ids()
    if pattern == EVERY:
        return frozenset(ids)
    found = frozenset(name for name in ids if name == pattern or (pattern.endswith("-") and name.startswith(pattern)))
    if not found:
        raise UnknownRule(f"no rule is called {pattern!r}{_meant(pattern, ids)}")
    return found


def chosen(choices: Iterable[Choice]) -> frozenset[str] | None:
    """The ids that are left after every choice, None for all of them; a `select` starts again from all ids."""
    given = [choice for choice in choices if choice != Choice()]
    if not given:
        return None
    left = frozenset(known_ids())
    for choice in given:
        wanted = _lengths(choice.select) if choice.select is not None else dict.fromkeys(left, 0)
        unwanted = _lengths(choice.ignore)
        left = frozenset(name for name, length in wanted.items() if length > unwanted.get(name, -1))
    return left


def matches(glob: str, path: str) -> bool:
    """Whether a path with slashes matches: `*` and `?` stop at a slash, `**` does not.

    A pattern without a slash is compared with the file's name alone.
    """
    if "/" not in glob:
        path = path.rpartition("/")[2]
    return re.fullmatch(_pattern(glob), path) is not None


def _pattern(glob: str) -> str:
    """The regular expression of a glob; several stars count as one, so that matching stays fast."""
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.findall(r"\*\*+/|\*\*+|\*|\?|[^*?]+", glob.removeprefix("./"))
    return "".join(words.get(re.sub(r"\*\*+", "**", part), re.escape(part)) for part in parts)


def _lengths(patterns: Sequence[str]) -> dict[str, int]:
    """For every id the length of the longest pattern that matches it; `all` is shorter than any."""
    found: dict[str, int] = {}
    for pattern in patterns:
        for name in expanded(pattern):
            found[name] = max(found.get(name, 0), 0 if pattern == EVERY else len(pattern))
    return found


def _meant(pattern: str, ids: Sequence[str]) -> str:
    import difflib

    if any(name.startswith(pattern + "-") for name in ids) and pattern:
        return f"; did you mean {pattern + '-'!r}?"
    close = difflib.get_close_matches(pattern, ids, 1)
    return f"; did you mean {close[0]!r}?" if close else "; `netdiag rules` lists them"


def _path(finding: Finding) -> str:
    return finding.location.path if isinstance(finding.location, FileLocation) else ""


def _from(path: str, root: str, folder: str) -> str:
    """A path as seen from a folder, with slashes; one outside of it stays absolute."""
    full = os.path.normpath(os.path.join(root, path)).replace("\\", "/")
    folder = os.path.normpath(os.path.join(root, folder)).replace("\\", "/").rstrip("/")
    return full[len(folder) + 1 :] if full.startswith(folder + "/") else full
