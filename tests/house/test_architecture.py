"""docs/architecture.md and the contract in pyproject.toml name the same layers in the same order."""

import re
import tomllib

from tests.house.tree import PACKAGE, ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def documented() -> list[frozenset[str]]:
    block = re.search(r"^```layers\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert block
    return [frozenset(re.split(r" \| ", re.split(r"  +", line)[0])) for line in block[1].splitlines()]


def enforced() -> list[frozenset[str]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = [contract for contract in settings["contracts"] if contract["type"] == "layers"]
    assert contract["exhaustive"]
    rows = [frozenset(name.strip("()") for name in layer.split(" | ")) for layer in contract["layers"]]
    return [row for row in rows if row != {"__main__"}]


def test_the_page_and_the_contract_name_the_same_layers() -> None:
    assert documented() == enforced()


def test_every_folder_of_the_package_is_described() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    described = set(re.findall(r"^\| `(\w+)/`", PAGE, re.MULTILINE))
    assert folders == described


def test_every_layer_is_a_folder_or_a_module_of_the_package() -> None:
    here = {path.stem for path in PACKAGE.glob("*.py")} | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert set().union(*documented()) == here - {"__init__", "__main__"}
