"""The fields of a service."""

import pytest

from netdiag.compose.project import Command, Service
from tests.compose.tracing import cut, project


def service(fields: str) -> Service:
    return project(f"services: {{a: {{image: x, {fields}}}, b: {{image: x}}}}").services["a"]


def words(command: Command) -> object:
    return (
        [word.value for word in command] if isinstance(command, tuple) else None if command is None else command.value
    )


@pytest.mark.parametrize("field", ["command", "entrypoint"])
def test_commands(field: str) -> None:
    for written, said in {"[a, 'b c']": ["a", "b c"], "a b": "a b", "[]": [], "": None}.items():
        assert words(getattr(service(f"{field}: {written}"), field)) == said


def test_healthchecks() -> None:
    assert words(service("healthcheck: {test: [CMD, a]}").healthcheck) == ["CMD", "a"]
    assert words(service("healthcheck: {test: a b}").healthcheck) == "a b"
    assert service("healthcheck: {disable: true}").healthcheck_disabled


def test_extra_hosts() -> None:
    found = service("extra_hosts: ['a:1.2.3.4', 'b=::1', 'c=[::2]', 'd:host-gateway', 'e=1,2']").extra_hosts
    assert [(host.name, host.address) for host in found] == [
        ("a", "1.2.3.4"), ("b", "::1"), ("c", "::2"), ("d", "host-gateway"), ("e", "1"), ("e", "2"),
    ]  # fmt: skip
    found = service("extra_hosts: {a: 1.2.3.4, b: ['::1', '::2']}").extra_hosts
    assert [(host.name, host.address) for host in found] == [("a", "1.2.3.4"), ("b", "::1"), ("b", "::2")]


def test_links_and_dependencies() -> None:
    found = service("links: [b, 'b:c'], external_links: [z], depends_on: [b]")
    assert [(link.service, link.alias) for link in found.links] == [("b", "b"), ("b", "c")]
    assert [text.value for text in found.external_links] == ["z"]
    assert [(d.service, d.condition, d.required) for d in found.depends_on] == [("b", "service_started", True)]
    found = service("depends_on: {b: {condition: service_healthy, required: false}}")
    assert [(d.service, d.condition, d.required) for d in found.depends_on] == [("b", "service_healthy", False)]


# entry -> type, source, host path, target, read only; None where compose refuses it
VOLUMES: list[tuple[str, tuple[str, str | None, str | None, str, bool] | None]] = [
    ("/d", ("volume", None, None, "/d", False)),
    ("./h:/t", ("bind", "./h", "./h", "/t", False)),
    ("/h:/t:ro", ("bind", "/h", "/h", "/t", True)),
    ("~/h:/t:rw,z", ("bind", "~/h", "~/h", "/t", False)),
    ("vol:/t", ("volume", "vol", None, "/t", False)),
    ("C:\\h:/t", ("bind", "C:\\h", "C:\\h", "/t", False)),
    ("C:\\h:D:\\t:ro", ("bind", "C:\\h", "C:\\h", "D:\\t", True)),
    ("one::two", None),
    ("one:two:ro:x1", None),
    ("", None),
]


@pytest.mark.parametrize(("entry", "volume"), VOLUMES)
def test_volumes(entry: str, volume: tuple[object, ...] | None) -> None:
    yaml = f"services: {{a: {{image: x, volumes: ['{entry}']}}}}\nvolumes: {{vol: }}"
    loaded = project(yaml)
    found = [
        (v.type, v.source.value if v.source else None, v.host_path, v.target, v.read_only)
        for v in loaded.services["a"].volumes
    ]
    assert found == ([] if volume is None else [volume])
    assert bool(loaded.errors) == (volume is None)
    for each in loaded.services["a"].volumes:
        if each.source is not None:
            assert cut(yaml.encode(), each.source.span) == each.source.value


def test_long_volumes() -> None:
    (found,) = service("volumes: [{type: bind, source: ./h, target: /t, read_only: true}]").volumes
    assert (found.type, found.host_path, found.target, found.read_only) == ("bind", "./h", "/t", True)


def test_scale() -> None:
    assert [service(text).scale for text in ("hostname: h", "scale: 3", "deploy: {replicas: 2}", "scale: '4'")] == [
        1,
        3,
        2,
        4,
    ]


def test_names_and_labels() -> None:
    found = service(
        "build: ., hostname: h, domainname: d, container_name: c, labels: [l=1, m], profiles: [p, p], dns: 1.1.1.1"
    )
    assert (found.build, str(found.hostname), str(found.domainname), str(found.container_name)) == (True, "h", "d", "c")
    assert {key: text.value for key, text in found.labels.items()} == {"l": "1", "m": ""}
    assert found.profiles == ("p",)
    assert [text.value for text in found.dns] == ["1.1.1.1"]
