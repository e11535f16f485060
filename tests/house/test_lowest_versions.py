"""The lower bounds in pyproject.toml are versions that work.

netdiag runs with exactly those, and what imports a library can be imported; with `make bars BARS=lowest-versions` its
fast tests pass, too.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.house.environments import Environment, create, extras, lower_bounds, pinned
from tests.house.tree import PACKAGE, ROOT, modules

PROVEN = ("", "live", "capture", "picture", "report", "metrics", "lsp", "mcp")
TEST_TOOLS = ("pytest", "hypothesis", "kio", "kafka-python", "jsonschema", "xmlschema", "pytest-lsp")
BROKEN = ROOT / "compose" / "scenarios" / "S02-inter-broker-loopback" / "kraft.broken.yml"
# What the extra that is not proven here brings: 500 MB.
OF_SPARK = ("pyspark", "py4j", "pyarrow", "pandas", "numpy")
# What is run of them: the tests of each module that imports a library, and of the commands those files that hold the
# surface which typer makes. What netdiag says further is decided where no library is.
COMMANDS = ("check_listeners", "console", "main", "outputs")
USERS = {
    "compose/yaml_tree.py": ("tests/compose/test_yaml_tree.py",),
    "io/engine/docker_sdk.py": ("tests/io/engine/test_docker_sdk.py", "tests/io/engine/test_live_deployment.py"),
    "io/files/keystores.py": ("tests/io/files/test_keystores.py",),
    "io/helper_container/client.py": ("tests/io/helper_container/test_client.py",),
    "io/network/certificates.py": (
        "tests/io/network/test_certificates.py",
        "tests/io/network/test_client_handshake.py",
    ),
    "io/network/client_identity.py": ("tests/io/network/test_client_identity.py",),
    "io/metrics.py": ("tests/io/test_metrics.py",),
    "io/packets/filters.py": ("tests/io/packets/test_source.py",),
    "io/tutorial_lab.py": ("tests/io/lab",),
    "lsp/server.py": ("tests/lsp/test_server.py",),
    "mcp/answers.py": ("tests/mcp/test_server.py",),
    "mcp/server.py": ("tests/mcp/test_server.py",),
    "render/analysis/figure.py": ("tests/render/analysis/test_figure.py",),
    "render/topology/layout.py": ("tests/render/topology/test_scene.py",),
}
QUICK = "not lab and not slow and not alone"
TESTS = (
    *(test for tests in USERS.values() for test in tests),
    *(f"tests/cli/test_{name}.py" for name in COMMANDS),
)


@pytest.fixture(scope="module")
def lowest(wheel: Path) -> Iterator[Environment]:
    """The wheel with every proven extra at its lower bound, and what the tests themselves need."""
    bounds = lower_bounds(requirement for extra in PROVEN for requirement in extras()[extra])
    with TemporaryDirectory() as folder:
        constraints = Path(folder) / "lowest.txt"
        constraints.write_text("\n".join([*bounds, *pinned(*TEST_TOOLS)]) + "\n")
        environment = create(Path(folder) / "environment")
        environment.install("--constraint", constraints, f"{wheel}[{','.join(filter(None, PROVEN))}]", *TEST_TOOLS)
        yield environment


def test_the_command_runs(lowest: Environment, tmp_path: Path) -> None:
    for words, status in ((["--help"], 0), (["--version"], 0), (["check-listeners", str(BROKEN)], 1)):
        done = lowest.netdiag(*words, cwd=tmp_path)
        assert done.returncode == status, done.stdout + done.stderr


def test_what_imports_a_library_can_be_imported(lowest: Environment, tmp_path: Path) -> None:
    names = [f"netdiag.{path.removesuffix('.py').replace('/', '.')}" for path in USERS]
    done = lowest.run("-c", f"import {', '.join(names)}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.bar("lowest-versions", long=True)
def test_the_fast_tests_pass(lowest: Environment) -> None:
    done = lowest.run(*("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", QUICK, *TESTS), cwd=ROOT)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


def test_what_is_run_is_there() -> None:
    assert [test for test in TESTS if not (ROOT / test).exists()] == []


def test_every_module_that_imports_a_library_is_run() -> None:
    """`app/analyze.py` only looks whether its library is there, and the commands have the files above."""
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules("netdiag")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in _imported(node)
        if name not in sys.stdlib_module_names and name not in ("netdiag", "__future__", *OF_SPARK)
    }
    assert {path for path in found if not path.startswith("cli/")} == {*USERS, "app/analyze.py"}


def _imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name.partition(".")[0] for alias in names]
        case ast.ImportFrom(module=str(module)):
            return [module.partition(".")[0]]
        case _:
            return []
