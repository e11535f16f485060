"""The faults fit the product: each can be made, and every folder of netdiag has one."""

import ast

from tests.faults.__main__ import places
from tests.faults.faults import FAULTS
from tests.house.tree import ROOT


def test_each_can_be_made_and_every_folder_has_one() -> None:
    found = {fault: places(fault, ROOT) for fault in FAULTS}
    assert not [fault for fault, files in found.items() if len(files) != 1]
    having = {path.parent for files in found.values() for path in files}
    folders = {path.parent for path in (ROOT / "netdiag").rglob("*.py") if path.name != "__init__.py"}
    assert folders <= having, sorted(folders - having)


def test_what_a_fault_makes_of_python_is_python() -> None:
    for fault in FAULTS:
        (file,) = places(fault, ROOT)
        if file.suffix == ".py":
            ast.parse(file.read_text(encoding="utf-8").replace(fault.old, fault.new), file.name)
