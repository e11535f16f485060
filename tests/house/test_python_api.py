"""docs/python-api.md is executed, and the names of the API are what they seem."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

import netdiag
from netdiag import api
from tests.cli.shell import environment
from tests.house.tree import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = ROOT / "docs" / "python-api.md"


def test_every_example_gives_what_is_shown(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = PAGE.read_text(encoding="utf-8").replace("…", "...")
    page = doctest.DocTestParser().get_doctest(text, {"spark": spark}, "python-api", str(PAGE), 0)
    said: list[str] = []
    done = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(page, out=said.append)
    assert done.attempted > 20
    assert done.failed == 0, "".join(said)


def test_the_page_names_every_function_and_report() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [
        name for name in api.__all__ if name not in text and name not in ("Finding", "NetdiagError", "Severity")
    ] == []


def test_the_package_exports_what_the_api_has() -> None:
    assert set(netdiag.__all__) == {*api.__all__, "__version__"}
    assert set(netdiag.__all__) <= set(dir(netdiag))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        netdiag.nonsense  # noqa: B018
    assert (ROOT / "netdiag" / "py.typed").exists()


def test_no_name_of_the_api_is_that_of_a_module() -> None:
    """After everything was imported: a sub-package of that name would take its place."""
    for module in pkgutil.walk_packages(netdiag.__path__, "netdiag."):
        if module.name.rpartition(".")[2] != "__main__":
            importlib.import_module(module.name)
    for name in netdiag.__all__:
        assert not isinstance(getattr(netdiag, name), ModuleType), name
        assert getattr(netdiag, name) is getattr(api, name, netdiag.__version__)


def test_importing_the_package_loads_nothing(tmp_path: Path) -> None:
    code = "import sys; before = set(sys.modules); import netdiag; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["netdiag"]
