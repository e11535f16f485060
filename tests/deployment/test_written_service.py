"""A service knows where it is written: base, override, merge keys."""

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.compose.service_edits import Change
from netdiag.deployment.model.deployment import Member, MemberEditor
from netdiag.deployment.sources.compose import from_compose
from netdiag.deployment.sources.compose_text import _edit_of
from netdiag.findings import Edit

BASE = "services:\n  k:\n    image: i\n    environment:\n      A: 1\n"


def member(base: str, override: str | None = None) -> Member:
    overrides = () if override is None else (Source("o.yml", override),)
    return from_compose(load(Source("c.yml", base), overrides=overrides, default_name="t")).by_name["k"]


def written(base: str, override: str | None = None) -> MemberEditor:
    found = member(base, override).editor
    assert found is not None
    return found


def test_a_variable_goes_beside_its_neighbour_into_the_file_that_has_it() -> None:
    override = "services:\n  k:\n    environment:\n      B: 2\n"
    first = written(BASE, override).add_variable("X", "1", "A")
    second = written(BASE, override).add_variable("X", "1", "B")
    assert first == Edit(path="c.yml", start=len(BASE) - 1, end=len(BASE) - 1, replacement="\n      X: 1")
    assert second == Edit(path="o.yml", start=len(override) - 1, end=len(override) - 1, replacement="\n      X: 1")


def test_a_variable_with_two_places_is_not_taken_away() -> None:
    override = "services:\n  k:\n    environment:\n      A: 2\n      B: 3\n"
    assert written(BASE, override).remove_variable("A") is None
    assert written(BASE, override).remove_variable("B") is not None


def test_what_a_merge_key_brings_is_not_taken_away_but_can_be_renamed() -> None:
    text = "x: &x\n  A: 1\nservices:\n  k:\n    image: i\n    environment:\n      <<: *x\n      B: 2\n      C: 3\n"
    assert written(text).remove_variable("A") is None
    assert written(text).rename_variable("A", "Z") == Edit(path="c.yml", start=8, end=9, replacement="Z")
    added = written(text).add_variable("X", "1", "A")
    assert added is not None
    assert added.start == len(text) - 1


def test_a_number_out_of_a_variable_is_left_alone() -> None:
    for entry in ('"${P:-9092}:9092"', '"9092-9093:9092-9093"'):
        text = f"services:\n  k:\n    image: i\n    ports: [{entry}]\n"
        service = member(text)
        assert service.editor is not None
        assert service.editor.change_port(service.published[0], published=1) is None


def test_ports_that_come_from_elsewhere_get_no_second_list() -> None:
    text = "services:\n  b:\n    image: i\n    ports: ['1:1']\n  k:\n    extends: b\n    environment: {A: 1}\n"
    assert written(text).add_port(2, 2) is None


def test_a_change_is_an_edit() -> None:
    assert _edit_of(Change(path="c", start=1, end=2, text="x")) == Edit(path="c", start=1, end=2, replacement="x")
