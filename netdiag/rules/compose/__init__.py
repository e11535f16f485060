"""Rules about the compose files themselves: what Compose refuses, warns about or silently reads in another way."""

from collections.abc import Iterable

from netdiag.compose.project import Project
from netdiag.findings import Finding, by_place
from netdiag.rules.compose import (
    compose_conflict,
    compose_dependency_cycle,
    compose_duplicate_key,
    compose_env_file,
    compose_extends,
    compose_include,
    compose_interpolation,
    compose_merge,
    compose_obsolete,
    compose_schema,
    compose_syntax,
    compose_undefined_reference,
    compose_variable_unescaped,
    compose_variable_unset,
)
from netdiag.rules.rule import ComposeRule

COMPOSE: tuple[ComposeRule, ...] = (
    compose_conflict,
    compose_dependency_cycle,
    compose_duplicate_key,
    compose_env_file,
    compose_extends,
    compose_include,
    compose_interpolation,
    compose_merge,
    compose_obsolete,
    compose_schema,
    compose_syntax,
    compose_undefined_reference,
    compose_variable_unescaped,
    compose_variable_unset,
)


def check_project(project: Project, rules: Iterable[ComposeRule] = COMPOSE) -> tuple[Finding, ...]:
    """What is wrong with the files of a project, by place, then by rule."""
    found = (finding for rule in rules for finding in rule.check(project))
    return tuple(sorted(found, key=by_place))
