"""Several files make one project: overrides, extended services, included projects, and the places of it all."""

from collections.abc import Mapping

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError
from netdiag.compose.project import Project
from tests.compose.tracing import assert_traced, cut, texts_in


def chain(files: Mapping[str, str], *names: str, environ: Mapping[str, str] | None = None) -> Project:
    first, *others = (Source(name, files[name]) for name in names or ("compose.yaml",))
    held = {path: text.encode() for path, text in files.items()}
    loaded = load(first, overrides=tuple(others), environ=environ or {}, read=held.get, name="p")
    for text in texts_in(loaded):
        assert_traced(text, held)
    return loaded


def test_each_value_stands_in_the_file_that_gave_it() -> None:
    files = {
        "compose.yaml": "services: {a: {image: x, hostname: h, ports: ['1:1'], environment: {A: 1, B: 2}}}\n",
        "over.yaml": "services: {a: {hostname: i, ports: ['2:2'], environment: [B=3]}}\n",
    }
    service = chain(files, "compose.yaml", "over.yaml").services["a"]
    assert service.image is not None
    assert service.hostname is not None
    assert (service.image.span.path, service.hostname.span.path) == ("compose.yaml", "over.yaml")
    assert [port.text.span.path for port in service.ports] == ["compose.yaml", "over.yaml"]
    variable = service.environment["B"]
    assert (variable.entry_span.path, variable.shadowed[0].path) == ("over.yaml", "compose.yaml")
    assert service.span.path == "compose.yaml"


def test_an_extended_service_of_another_folder() -> None:
    files = {
        "compose.yaml": "services: {a: {extends: {service: b, file: d/o.yaml}}}\n",
        "d/o.yaml": "services: {b: {image: 'x:${T}', env_file: v.env, volumes: ['./h:/t']}}\n",
        "d/v.env": "V=kafka\n",
    }
    service = chain(files, environ={"T": "1"}).services["a"]
    assert service.image is not None
    assert (service.image.value, service.image.span.path) == ("x:1", "d/o.yaml")
    value = service.environment["V"].value
    assert value is not None
    span = value.edit_span(0, 5)
    assert span is not None
    assert (span.path, cut(files["d/v.env"].encode(), span)) == ("d/v.env", "kafka")
    assert service.volumes[0].host_path == "d/h"
    assert service.env_files[0].file == "d/v.env"
    assert service.env_files[0].path.value == "v.env"


def test_an_included_project_has_its_own_folder_and_variables() -> None:
    files = {
        "compose.yaml": "include: [d/o.yaml]\nservices: {a: {image: 'x:${T:-0}', depends_on: [b]}}\n",
        "d/o.yaml": "services: {b: {image: 'x:${T}', environment: [T]}}\nnetworks: {n: }\n",
        "d/.env": "T=9\n",
    }
    loaded = chain(files)
    assert not loaded.errors
    images = {name: str(service.image) for name, service in loaded.services.items()}
    assert images == {"a": "x:0", "b": "x:9"}
    image = loaded.services["b"].image
    assert image is not None
    span = image.edit_span(2, 3)
    assert span is not None
    assert (span.path, span.start) == ("d/.env", 2)
    assert loaded.networks["n"].span.path == "d/o.yaml"
    assert str(loaded.services["b"].environment["T"].value) == "9"


# files beside compose.yaml, compose.yaml, the code and the characters of the problem
REFUSED = [
    ({}, "services: {a: {image: x, extends: b}}", "extends", "b"),
    ({}, "services: {a: {image: x, extends: {service: b, file: o.yaml}}}", "extends", "o.yaml"),
    ({"o.yaml": "services: {}"}, "services: {a: {image: x, extends: {service: b, file: o.yaml}}}", "extends", "b"),
    ({"o.yaml": "x: 1"}, "services: {a: {image: x, extends: {service: b, file: o.yaml}}}", "extends", "o.yaml"),
    ({"o.yaml": "[oops"}, "services: {a: {image: x, extends: {service: b, file: o.yaml}}}", "extends", "o.yaml"),
    ({}, "services: {a: {image: x, extends: {file: o.yaml}}}", "extends", "extends: {file: o.yaml}"),
    ({}, "services: {a: {image: x, extends: a}}", "extends", "extends: a"),
    ({}, "include: [o.yaml]\nservices: {a: {image: x}}", "include", "o.yaml"),
    ({}, "include: [compose.yaml]\nservices: {a: {image: x}}", "include", "compose.yaml"),
    ({}, "include: [{env_file: e}]\nservices: {a: {image: x}}", "include", "{env_file: e}"),
    ({}, "include: o.yaml\nservices: {a: {image: x}}", "include", "o.yaml"),
    ({"o.yaml": "[oops"}, "include: [o.yaml]\nservices: {a: {image: x}}", "include", "o.yaml"),
    ({"o.yaml": "a: 1"}, "include: [{path: o.yaml, env_file: e}]\nservices: {a: {image: x}}", "include", "e"),
    ({"o.yaml": "services: {a: {image: y}}"}, "include: [o.yaml]\nservices: {a: {image: x}}", "include", "a"),
    ({}, "services: {a: {image: x}}\n---\n~\n", "document", "~"),
]


@pytest.mark.parametrize(("files", "yaml", "code", "under"), REFUSED)
def test_what_cannot_be_drawn_in(files: dict[str, str], yaml: str, code: str, under: str) -> None:
    loaded = chain({"compose.yaml": yaml, **files})
    found = [problem for problem in loaded.errors if problem.code == code]
    assert under in [cut(yaml.encode(), problem.span) for problem in found]
    assert str(loaded.services["a"].image) == "x"


def test_circles_through_files_end() -> None:
    files = {
        "compose.yaml": "include: [o.yaml]\nservices: {a: {image: x, extends: {service: b, file: o.yaml}}}\n",
        "o.yaml": "include: [o.yaml]\nservices: {b: {image: x, extends: {service: a, file: compose.yaml}}}\n",
    }
    assert {problem.code for problem in chain(files).errors} >= {"extends", "include"}


def test_many_files_are_bounded() -> None:
    files = {
        f"f{n}.yaml": f"include: [f{n + 1}.yaml, f{n + 1}.yaml]\nservices: {{s{n}: {{image: x}}}}\n" for n in range(30)
    }
    loaded = chain({**files, "compose.yaml": "include: [f0.yaml]\nservices: {a: {image: x}}\n"})
    assert any("more than 200 files" in problem.message for problem in loaded.errors)


def test_resets_work_on_earlier_files_and_on_what_is_extended() -> None:
    files = {
        "compose.yaml": "services: {a: {image: x, ports: ['1:1']}, b: {extends: a, ports: !override ['2:2']}}\n",
        "over.yaml": "services: {a: {ports: !reset []}}\n",
    }
    services = chain(files, "compose.yaml", "over.yaml").services
    assert [port.target for port in services["b"].ports] == [2]
    assert services["a"].ports == ()


@pytest.mark.slow
def test_files_that_multiply_are_bounded() -> None:
    big = "x-a: |\n" + "  word\n" * 30_000
    files = {f"f{n}.yaml": big + f"services: {{s{n}: {{image: x}}}}\n" for n in range(40)}
    loaded = chain({**files, "compose.yaml": f"include: [{', '.join(files)}]\nservices: {{a: {{image: x}}}}\n"})
    assert any("excessive size" in problem.message for problem in loaded.errors)


# compose.yaml, other files
MULTIPLYING = [
    (
        "services:\n"
        + "".join(f"  s{n}: {{extends: s{n + 1}}}\n" for n in range(200))
        + f"  s200: {{image: x, environment: {{{', '.join(f'V{n}: 1' for n in range(1000))}}}}}\n",
        {},
    ),
    ("services:\n" + "".join(f"  s{n}: {{image: x, ports: ['1-65535:1-65535']}}\n" for n in range(9)), {}),
    (
        "services:\n" + "".join(f"  s{n}: {{image: x, env_file: v.env}}\n" for n in range(100)),
        {"v.env": "# only a comment\n" * 5000},
    ),
]


@pytest.mark.parametrize(("yaml", "files"), MULTIPLYING, ids=["extends", "ports", "env_file"])
def test_what_multiplies_is_bounded(yaml: str, files: dict[str, str]) -> None:
    held = {path: text.encode() for path, text in files.items()}
    with pytest.raises(ComposeError, match="excessive size"):
        load(Source("compose.yaml", yaml), read=held.get, name="p")
