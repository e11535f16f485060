"""The rules of a SARIF run: what each is about, with its whole page as help."""

import re
from collections.abc import Iterable
from typing import Any

from netdiag.render.rule_markdown import rule_markdown
from netdiag.rules.all_rules import ALL
from netdiag.rules.rule import Rule, RulePage, rule_page
from netdiag.rules.selection import WITHOUT_RULE


def descriptors(names: Iterable[str], pages: str | None = None) -> list[dict[str, Any]]:
    """The reportingDescriptor objects (SARIF 3.49) of these rules; `pages` is the address of the rule pages."""
    known = {rule.ID: rule for rule in ALL}
    return [_of_rule(known[name], pages) if name in known else _of_name(name) for name in names]


def _of_rule(rule: Rule, pages: str | None) -> dict[str, Any]:
    page = rule_page(rule.__doc__ or "")
    descriptor: dict[str, Any] = {
        "id": rule.ID,
        "name": "".join(word.capitalize() for word in re.split(r"[^a-z0-9]", rule.ID)),
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": " ".join(page.why.split())},
        "help": {"text": _text(page), "markdown": rule_markdown(page) + "\n"},
        "defaultConfiguration": {"level": rule.SEVERITY.value},
        "properties": {"tags": ["kafka", "docker", "listeners"], "problem.severity": _for_github(rule.SEVERITY.value)},
    }
    if pages:
        descriptor["helpUri"] = f"{pages.rstrip('/')}/{rule.ID}.md"
    return descriptor


def _of_name(name: str) -> dict[str, Any]:
    text = WITHOUT_RULE.get(name)
    return {"id": name, "shortDescription": {"text": text}} if text else {"id": name}


def _text(page: RulePage) -> str:
    return (
        f"{page.title}\n\nWhy: {page.why}\n\nBad:\n{page.bad}\nGood:\n{page.good}\n"
        f"Seen: {page.seen}\n\nSources: {page.sources}\n"
    )


def _for_github(level: str) -> str:
    """GitHub's code scanning calls the mildest level a recommendation."""
    return "recommendation" if level == "note" else level
