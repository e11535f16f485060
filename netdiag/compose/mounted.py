"""Secrets and configs: compose refuses those that services name and nobody declares, and those of two kinds or none."""

from netdiag.compose.problems import Problems
from netdiag.compose.project import Project
from netdiag.compose.values import Mapping, Scalar, Sequence, Value

_KINDS = {"secrets": ("file", "environment"), "configs": ("file", "environment", "content")}
_UNDEFINED = {"secrets": "undefined-secret", "configs": "undefined-config"}
_ELSEWHERE = ("external", "driver")


def check_mounted(project: Project, top: Mapping, problems: Problems) -> None:
    """Adds to the problems what compose would say about the secrets and configs of the project."""
    services = top.get("services")
    for section, kinds in _KINDS.items():
        declared = top.get(section)
        for name, entry in declared.entries.items() if isinstance(declared, Mapping) else ():
            held = [kind for kind in kinds if isinstance(entry.value, Mapping) and kind in entry.value.entries]
            if len(held) > 1:
                message = f"{section}.{name}: {' and '.join(held)} are mutually exclusive"
                problems.error("schema", message, entry.key.span)
            elif not held and not _is_elsewhere(entry.value):
                problems.error("schema", f"{section}.{name} needs one of {', '.join(kinds)}", entry.key.span)
        for name in project.services:
            service = services.get(name) if isinstance(services, Mapping) else None
            used = service.get(section) if isinstance(service, Mapping) else None
            for source in map(_source, used.items if isinstance(used, Sequence) else ()):
                known = isinstance(declared, Mapping) and source is not None and source.value in declared.entries
                if source is not None and not known:
                    message = f"service {name!r} refers to undefined {section[:-1]} {source.value!r}"
                    problems.error(_UNDEFINED[section], message, source.span, service=name)


def _is_elsewhere(value: Value) -> bool:
    return isinstance(value, Mapping) and any(key in value.entries for key in _ELSEWHERE)


def _source(item: Value) -> Scalar | None:
    """What a service mounts: the short form is its name, the long one has it under `source`."""
    named = item.get("source") if isinstance(item, Mapping) else item
    return named if isinstance(named, Scalar) and named.kind != "null" else None
