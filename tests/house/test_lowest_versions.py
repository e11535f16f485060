"""The lower bounds in pyproject.toml are versions that work: netdiag runs with exactly those, and so do the fast
tests of what imports a library."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.house.environments import Environment, build_wheel, create, extras, lower_bounds, pinned
from tests.house.tree import PACKAGE, ROOT, modules

PROVEN = ("", "live", "capture", "picture", "report")
TEST_TOOLS = ("pytest", "hypothesis", "kio", "kafka-python", "jsonschema")
BROKEN = ROOT / "compose" / "scenarios" / "S02-inter-broker-loopback" / "kraft.broken.yml"
# The layers that import a library, and the examples of the rules, which are loaded with one.
LAYERS = {"app", "cli", "compose", "io", "render"}
# What the extra that is not proven here brings: 500 MB.
OF_SPARK = ("pyspark", "py4j", "pyarrow", "pandas", "numpy")
# What is run of them: all that reads YAML, all that opens something, and of the commands those files that hold the
# surface which typer makes. What a command says further is decided below, where no library is.
COMMANDS = ("check_listeners", "command", "console", "exit_status", "main", "outputs")
QUICK = "not lab and not slow and not alone"
TESTS = (
    *("tests/compose", "tests/io", "tests/rules/test_examples.py"),
    *(f"tests/cli/test_{name}.py" for name in COMMANDS),
    # where networkx is asked for an order, and Vega for a picture: the libraries below io and cli
    "tests/render/topology/test_layout.py",
    "tests/render/analysis/test_figure.py",
    # the extra that is not proven here
    "--ignore=tests/io/spark",
    "--ignore=tests/io/follow",
    # what needs the capture engine
    "--ignore=tests/io/files/test_captures.py",
)


@pytest.fixture(scope="module")
def lowest() -> Iterator[Environment]:
    """The wheel with every proven extra at its lower bound, and what the tests themselves need."""
    bounds = lower_bounds(requirement for extra in PROVEN for requirement in extras()[extra])
    with TemporaryDirectory() as folder:
        constraints = Path(folder) / "lowest.txt"
        constraints.write_text("\n".join([*bounds, *pinned(*TEST_TOOLS)]) + "\n")
        environment = create(Path(folder) / "environment")
        wheel = build_wheel(Path(folder) / "dist")
        environment.install("--constraint", constraints, f"{wheel}[{','.join(filter(None, PROVEN))}]", *TEST_TOOLS)
        yield environment


def test_the_command_runs(lowest: Environment, tmp_path: Path) -> None:
    for words, status in ((["--help"], 0), (["--version"], 0), (["check-listeners", str(BROKEN)], 1)):
        done = lowest.netdiag(*words, cwd=tmp_path)
        assert done.returncode == status, done.stdout + done.stderr


def test_the_fast_tests_pass(lowest: Environment) -> None:
    done = lowest.run(
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not lab and not slow and not alone", *TESTS), cwd=ROOT
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


def test_no_other_layer_imports_a_library() -> None:
    found = {
        path.relative_to(PACKAGE).parts[0]
        for path in modules("netdiag")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in _imported(node)
        if name not in sys.stdlib_module_names and name not in ("netdiag", "__future__", *OF_SPARK)
    }
    assert found == LAYERS


def _imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name.partition(".")[0] for alias in names]
        case ast.ImportFrom(module=str(module)):
            return [module.partition(".")[0]]
        case _:
            return []
