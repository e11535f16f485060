"""Every path that tells something is a field of some version of its message."""

from collections.abc import Iterator

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.bodies import roles
from netdiag.traffic.engine.bodies.facts import Facts, RequestFacts, ResponseFacts


def _paths(layout: wire.Layout, outside: str = "") -> Iterator[str]:
    for field in (*layout.fields, *layout.tagged.values()):
        yield outside + field.name
        if field.layout is not None:
            yield from _paths(field.layout, f"{outside}{field.name}.")


def _all_paths(api_key: int, direction: wire.Direction) -> set[str]:
    versions = wire.api_versions(api_key)
    return {path for version in versions for path in _paths(wire.layout(api_key, version, direction))}


def test_paths_are_fields_of_the_table() -> None:
    for (api_key, direction), rows in roles.ROWS.items():
        known = _all_paths(api_key, direction) | {""}
        for path, row in rows.items():
            assert path in known
            columns = {f"{path}.{column}".strip(".").rstrip("#") for column in row.columns}
            assert api_key == 10 or columns <= known | {f"{path}.rack"}, (api_key, path)
    for (api_key, direction), told in [*roles.LISTS.items(), *roles.PAIRS.items()]:
        assert set(told) <= _all_paths(api_key, direction)
    for (api_key, direction), path in roles.GROUP_ARRAYS.items():
        assert path in _all_paths(api_key, direction)
    for api_key, direction, path in roles.EMBEDDED:
        assert path in _all_paths(api_key, direction)
    for api_key, path in roles.FIRST_OF:
        assert path in _all_paths(api_key, wire.Direction.REQUEST)


def test_scalars_are_fields_of_some_message_and_attributes_of_the_facts() -> None:
    facts: dict[wire.Direction, type[Facts]] = {
        wire.Direction.REQUEST: RequestFacts,
        wire.Direction.RESPONSE: ResponseFacts,
    }
    for direction, scalars in roles.SCALARS.items():
        known = {path for api_key in wire.api_keys() for path in _all_paths(api_key, direction)}
        assert set(scalars) <= known
        assert all(hasattr(facts[direction], name) for name in scalars.values())


def test_columns_are_columns() -> None:
    for rows in roles.ROWS.values():
        for row in rows.values():
            assert row.kind is not None
            assert set(row.columns.values()) <= set(row.kind._fields)
            assert row.needs in row.columns


def test_topics_are_told_by_name() -> None:
    assert roles.is_topic_name(1, "topics.topic")
    assert roles.is_topic_name(3, "topics.name")
    assert roles.is_topic_name(37, "results.name")
    assert not roles.is_topic_name(32, "results.configs.name")
    assert not roles.is_topic_name(11, "protocols.name")
    assert roles.is_error_code("partition_error_code")
    assert not roles.is_error_code("error_message")


def test_what_no_wanted_table_tells_is_unwanted() -> None:
    assert "software_name" in roles.unwanted(frozenset({"exchanges"}))
    assert roles.unwanted(frozenset({"connections"})) == roles.OF_GROUPS
    assert roles.unwanted(frozenset({"connections", "group_events"})) == frozenset()
