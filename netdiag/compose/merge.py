"""How a later file changes an earlier one, and a service the one it extends.

Mappings merge key by key, lists are appended, scalars are replaced (compose-spec "Merge and override"); the
fields with rules of their own are written out below. What is listed twice after that is sorted out where the
field is read: a later port, volume or variable takes the place of an earlier one.
"""

from collections.abc import Callable
from dataclasses import replace

from netdiag.compose.expand import Path
from netdiag.compose.positions import Span, Text
from netdiag.compose.problems import Problems
from netdiag.compose.values import Entry, Kind, Mapping, Scalar, Sequence, Value, is_null

Rule = Callable[[Value, Value, Problems, Path], Value]


def merge(left: Value, right: Value, problems: Problems, path: Path = ()) -> Value:
    """The left value as changed by the right one; what cannot be merged is a problem and leaves the left."""
    rule = _RULES.get(tuple("*" if i in (1, 3) and _is_open(path, i) else part for i, part in enumerate(path)))
    if rule is not None:
        return rule(left, right, problems, path)
    if is_null(right):
        return left
    match left, right:
        case Mapping(), Mapping():
            return _merge_mappings(left, right, problems, path)
        case Sequence(), Sequence():
            return replace(left, items=(*left.items, *right.items))
        case Scalar(), _:
            return right
    problems.error("merge", f"cannot override {'.'.join(path)}", right.span, left.span)
    return left


def remove(value: Mapping, path: Path) -> Mapping:
    """The mapping without what stands under a path."""
    entry = value.entries.get(path[0]) if path else None
    if entry is None:
        return value
    entries = dict(value.entries)
    if len(path) == 1:
        del entries[path[0]]
    elif isinstance(entry.value, Mapping):
        entries[path[0]] = replace(entry, value=remove(entry.value, path[1:]))
    return replace(value, entries=entries)


def plain(value: Value) -> object:
    """The value without its places, to compare two of them."""
    match value:
        case Scalar():
            return (value.kind, value.value)
        case Sequence():
            return [plain(item) for item in value.items]
        case Mapping():
            return {key: plain(entry.value) for key, entry in value.entries.items()}


def weight(value: Value) -> int:
    """How many values a value is made of."""
    match value:
        case Scalar():
            return 1
        case Sequence():
            return 1 + sum(weight(item) for item in value.items)
        case Mapping():
            return 1 + sum(weight(entry.value) for entry in value.entries.values())


def _is_open(path: Path, index: int) -> bool:
    """Whether the key at this depth is one that users choose."""
    return index == 1 or (len(path) > 3 and path[2] == "ulimits")


def _merge_mappings(left: Mapping, right: Mapping, problems: Problems, path: Path) -> Mapping:
    entries = dict(left.entries)
    for key, entry in right.entries.items():
        earlier = entries.get(key)
        if earlier is None:
            entries[key] = entry
            continue
        value = merge(earlier.value, entry.value, problems, (*path, key))
        if value is entry.value:
            entries[key] = entry
        elif value is not earlier.value:
            entries[key] = replace(earlier, value=value)
    return replace(left, entries=entries)


def _replace(left: Value, right: Value, problems: Problems, path: Path) -> Value:
    return right


def _append_pairs(left: Value, right: Value, problems: Problems, path: Path) -> Value:
    return Sequence(items=(*_items(left), *_items(right)), span=left.span)


def _append_new(left: Value, right: Value, problems: Problems, path: Path) -> Value:
    have = _items(left)
    spelled = {_spelling(item) for item in have}
    return Sequence(items=(*have, *(i for i in _items(right) if _spelling(i) not in spelled)), span=left.span)


def _by_name(left: Value, right: Value, problems: Problems, path: Path) -> Value:
    return _merge_mappings(_named(left), _named(right), problems, path)


def _merge_dependencies(left: Value, right: Value, problems: Problems, path: Path) -> Value:
    return _merge_mappings(_waited_for(left), _waited_for(right), problems, path)


def _waited_for(value: Value) -> Mapping:
    """A list of services as the mapping that it abbreviates, which says how they are waited for."""
    named = _named(value)
    entries = {
        name: replace(entry, value=_plainly_waited_for(entry.key.span), listed=False) if entry.listed else entry
        for name, entry in named.entries.items()
    }
    return replace(named, entries=entries)


def _plainly_waited_for(span: Span) -> Mapping:
    kinds: dict[str, tuple[Kind, str]] = {"condition": ("str", "service_started"), "required": ("bool", "true")}
    entries = {
        key: Entry(key=Text(value=key, span=span), value=Scalar(kind=kind, text=Text(value=value, span=span)))
        for key, (kind, value) in kinds.items()
    }
    return Mapping(entries=entries, span=span)


def _merge_build(left: Value, right: Value, problems: Problems, path: Path) -> Value:
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return _merge_mappings(left, right, problems, path)
    return left if is_null(right) else right


def _merge_pools(left: Value, right: Value, problems: Problems, path: Path) -> Value:
    """Address pools are the same when their subnets are."""
    pools: dict[object, Value] = {}
    for pool in (*_items(left), *_items(right)):
        subnet = pool.get("subnet") if isinstance(pool, Mapping) else None
        key = subnet.value if isinstance(subnet, Scalar) else ""
        earlier = pools.get(key)
        both = isinstance(pool, Mapping) and isinstance(earlier, Mapping)
        pools[key] = _merge_mappings(earlier, pool, problems, path) if both else pool  # type: ignore[arg-type]
    return Sequence(items=tuple(pools.values()), span=left.span)


def _items(value: Value) -> tuple[Value, ...]:
    """The items of a list; an entry of a mapping becomes a mapping of its own, so that it keeps its place."""
    match value:
        case Sequence():
            return value.items
        case Mapping():
            return tuple(Mapping(entries={key: e}, span=e.span) for key, e in value.entries.items())
        case Scalar():
            return () if is_null(value) else (value,)


def _spelling(item: Value) -> str:
    if isinstance(item, Mapping):
        return ",".join(f"{key}={plain(entry.value)}" for key, entry in item.entries.items())
    return item.value if isinstance(item, Scalar) else repr(plain(item))


def _named(value: Value) -> Mapping:
    """A list of names as the mapping that it abbreviates."""
    if isinstance(value, Mapping):
        return value
    names = [item for item in _items(value) if isinstance(item, Scalar)]
    entries = {
        name.value: Entry(key=name.text, value=Mapping(entries={}, span=name.span), listed=True) for name in names
    }
    return Mapping(entries=entries, span=value.span)


_PAIRS = ("annotations", "dns", "dns_opt", "dns_search", "env_file", "environment", "label_file", "labels")
_RULES: dict[Path, Rule] = {
    **{("services", "*", field): _append_pairs for field in (*_PAIRS, "sysctls", "tmpfs")},
    **{("services", "*", field): _replace for field in ("command", "entrypoint")},
    **{("services", "*", field): _by_name for field in ("models", "networks")},
    ("services", "*", "depends_on"): _merge_dependencies,
    **{(unit, "*", "labels"): _append_pairs for unit in ("networks", "volumes")},
    **{("services", "*", "build", field): _append_pairs for field in ("additional_contexts", "args", "labels")},
    ("services", "*", "build"): _merge_build,
    ("services", "*", "build", "extra_hosts"): _append_new,
    ("services", "*", "deploy", "labels"): _append_pairs,
    ("services", "*", "extra_hosts"): _append_new,
    ("services", "*", "healthcheck", "test"): _replace,
    ("services", "*", "ulimits", "*"): _replace,
    ("networks", "*", "ipam", "config"): _merge_pools,
}
