"""The import contracts of pyproject.toml hold, each can fail, and docs/architecture.md names the same layers."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.house.tree import PACKAGE, ROOT

LAYERS = ("cli", "lsp", "mcp", "app", "io", "render", "playbook", "rules", "deployment", "topology", "traffic")
VOCABULARIES = ("compose", "config", "engine", "kafka", "linux", "machine")
CONTRACTS = {
    contract["id"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
}

# contract, the file that breaks it, its text
VIOLATIONS = [
    ("layers", "app/ask.py", "import netdiag.cli.main"),
    ("layers", "cli/ask.py", "import netdiag.api"),
    ("layers", "io/read.py", "from netdiag.app import check"),
    ("layers", "render/text.py", "from netdiag.io import files"),
    ("layers", "rules/run.py", "from netdiag.render import text"),
    ("layers", "deployment/broker.py", "from netdiag.rules import run"),
    ("layers", "kafka/listeners.py", "from netdiag.deployment import broker"),
    ("layers", "findings.py", "from netdiag.kafka import listeners"),
    ("layers", "render/steps.py", "from netdiag.playbook import document"),
    ("layers", "deployment/graph.py", "from netdiag.topology import graph"),
    ("layers", "compose/bridge.py", "from netdiag.engine import bridge"),
    ("layers", "kafka/link.py", "from netdiag.linux import link"),
    ("layers", "findings.py", "import netdiag.errors"),
    ("layers", "distribution.py", "import netdiag.errors"),
    ("cycles", "kafka/one.py", "def f():\n    import netdiag.kafka.two"),
    *(
        ("world", "deployment/dial.py", f"def f():\n    import {library}")
        for library in (
            "docker",
            "pyroute2",
            "scapy.all",
            "cryptography.x509",
            "socket",
            "ssl",
            "subprocess",
        )
    ),
    ("world", "cli/spawn.py", "import subprocess"),
    ("world", "traffic/sniff.py", "from scapy.utils import RawPcapReader"),
    ("layers", "traffic/files.py", "from netdiag.io import files"),
    ("layers", "traffic/aggregates/judged.py", "from netdiag.rules import run"),
    ("layers", "traffic/names.py", "from netdiag.deployment import broker"),
    ("spark", "io/files.py", "import pyspark.sql"),
    ("spark", "cli/analyze.py", "def f():\n    import py4j"),
    ("layers", "lsp/ask.py", "import netdiag.cli.main"),
    ("lsp", "app/editor.py", "import pygls"),
    ("lsp", "cli/lsp.py", "from lsprotocol import types"),
    ("layers", "mcp/ask.py", "import netdiag.lsp"),
    ("mcp", "app/tools.py", "import mcp"),
    ("typer", "render/text.py", "import typer"),
    ("typer", "io/ask.py", "import click"),
    ("typer", "render/text.py", "from rich import print"),
]


def test_the_package_keeps_every_contract() -> None:
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout


def test_a_tree_without_violation_is_kept(tmp_path: Path) -> None:
    """The control of the next test: what fails there is the violation, not the tree that it was put into."""
    done = lint(plant(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What import-linter says of a tree with all the violations."""
    tree = plant(tmp_path_factory.mktemp("broken"))
    for number, (_, path, text) in enumerate(VIOLATIONS):
        file = tree / "netdiag" / path
        before = file.read_text(encoding="utf-8") if file.exists() else '"""Breaks a contract."""\n'
        put(file, f"{before}\n{text.replace('def f', f'def f{number}')}\n")
    done = lint(tree)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"Contracts: 0 kept, {len(CONTRACTS)} broken." in done.stdout
    return done.stdout


@pytest.mark.parametrize(("contract", "path", "text"), VIOLATIONS)
def test_a_violation_is_seen(told: str, contract: str, path: str, text: str) -> None:
    importer = f"netdiag.{path.removesuffix('.py').replace('/', '.')}"
    if contract == "cycles":
        assert f"No cycles are allowed in {importer.rpartition('.')[0]}." in told
        return
    module = text.rpartition("    ")[2].removeprefix("from ").removeprefix("import ").replace(" import ", ".")
    imported = module if module.startswith("netdiag.") else module.partition(".")[0]
    assert re.search(rf"^- +{re.escape(importer)} -> {re.escape(imported)} \(", told, re.MULTILINE), told


def test_a_folder_without_a_layer_is_seen(tmp_path: Path) -> None:
    tree = plant(tmp_path)
    put(tree / "netdiag" / "unplaced" / "__init__.py", "")
    done = lint(tree, "layers")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "netdiag.unplaced" in done.stdout + done.stderr


def test_every_contract_has_its_violation() -> None:
    assert {contract for contract, _, _ in VIOLATIONS} == CONTRACTS


def test_every_folder_of_the_package_is_seen_by_the_contracts() -> None:
    """import-linter overlooks a folder without __init__.py, and with it every import inside."""
    unseen = {path.parent for path in PACKAGE.rglob("*.py") if not (path.parent / "__init__.py").exists()}
    assert not unseen


def plant(folder: Path) -> Path:
    """A small netdiag under `folder` with every layer, and the real contracts."""
    for layer in (*LAYERS, *VOCABULARIES):
        put(folder / "netdiag" / layer / "__init__.py", "")
    allowed = {
        "__init__.py": "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import netdiag.api\n",
        "api.py": "import netdiag.app.check\n",
        "distribution.py": "",
        "errors.py": "import netdiag.distribution\n",
        "findings.py": "",
        "digits.py": "",
        "patterns.py": "",
        "values.py": "",
        "cli/main.py": "import typer\nimport netdiag.app.check\nimport netdiag.rules.run\n",
        "app/check.py": "import netdiag.io.files\n",
        "io/files.py": "import socket\nimport netdiag.errors\n",
        "io/spark/__init__.py": "",
        "io/spark/session.py": "import pyspark\n",
        "traffic/native.py": "import netdiag.kafka.listeners\n",
        "traffic/aggregates/__init__.py": "",
        "traffic/aggregates/rates.py": "import pyspark\n",
        "rules/run.py": "import netdiag.deployment.broker\n",
        "deployment/broker.py": "import netdiag.kafka.listeners\n",
        "kafka/listeners.py": "import netdiag.findings\n",
        "kafka/two.py": "import netdiag.kafka.one\n",
        "kafka/one.py": "",
        "playbook/document.py": "",
        "render/text.py": "",
        "topology/graph.py": "",
        "engine/bridge.py": "",
        "linux/link.py": "",
    }
    for path, text in allowed.items():
        put(folder / "netdiag" / path, text)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def put(path: Path, text: str) -> None:
    """Write a file, with the folders it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def lint(tree: Path, *contracts: str) -> subprocess.CompletedProcess[str]:
    """import-linter over a tree, as `make lint` runs it."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"]
    chosen = [word for contract in contracts for word in ("--contract", contract)]
    return subprocess.run(
        [*command, "--no-cache", "--no-logo", *chosen],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )


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
