"""Regions and URIs in SARIF's units."""

import pytest

from netdiag.findings import ContainerLocation, Edit, FileLocation
from netdiag.render.formats.sarif import Places

DATA = "a: 'é\U0001f600b'\nc: d\n".encode()
PLACES = Places({"/r/x y.yml": DATA}, "/r")


@pytest.mark.parametrize(
    ("place", "region"),
    [
        ((1, 7, 1, 8), (1, 8, 1, 9)),
        ((1, 6, 1, 7), (1, 6, 1, 8)),
        ((1, 5, 2, 3), (1, 5, 2, 3)),
        ((0, 0, 0, 0), (1, 1, 1, 1)),
        ((2, 4, 1, 1), (2, 4, 2, 4)),
        ((99, 3, 99, 9), (99, 3, 99, 9)),
    ],
)
def test_columns(place: tuple[int, int, int, int], region: tuple[int, int, int, int]) -> None:
    line, column, end_line, end_column = place
    where = FileLocation(
        path="/r/x y.yml", line=line, column=column, end_line=end_line, end_column=end_column, start=0, end=0
    )
    physical = PLACES.location(where)["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "x%20y.yml", "uriBaseId": "%SRCROOT%"}
    assert tuple(physical["region"].values()) == region


def test_a_container_is_a_resource() -> None:
    (where,) = PLACES.location(ContainerLocation(container="k", part="A"))["logicalLocations"]
    assert where == {"name": "A", "fullyQualifiedName": "k (A)", "kind": "resource"}


def test_changes_are_in_order_and_all_or_none() -> None:
    edits = [Edit(path="/r/x y.yml", start=n, end=n, replacement=text) for n, text in ((3, "z"), (0, ""))]
    (change,) = PLACES.changes(edits)
    assert [r["deletedRegion"]["startColumn"] for r in change["replacements"]] == [1, 4]
    assert "insertedContent" not in change["replacements"][0]
    assert PLACES.changes([*edits, Edit(path="gone", start=0, end=0, replacement="z")]) == []


def test_a_file_elsewhere_has_its_whole_address() -> None:
    assert PLACES.artifact("/elsewhere/x.yml") == {"uri": "file:///elsewhere/x.yml"}
