"""The wheel holds what the commands need, and works bare and with each extra from an empty folder."""

import shutil
import zipfile
from pathlib import Path

import pytest

from netdiag import __version__
from netdiag.distribution import NAME, install_line
from tests.house.environments import Environment, create, extras
from tests.house.tree import PACKAGE, ROOT, files

# Folders of the repository that commands read: where they are in the package.
DATA = {
    "compose": "netdiag/data/compose",
    "playbooks": "netdiag/data/playbooks",
    "docs/schemas": "netdiag/data/schemas",
}
# What each extra must make importable. Spark is 500 MB: `make bars BARS=spark-extra` installs it.
IMPORTS = {
    "live": "import docker, pyroute2, cryptography.x509",
    # side by side in one environment: none needs anything of the others, and making one takes long
    "capture,picture,report,metrics,lsp,mcp": (
        "import scapy.utils, networkx, vl_convert, prometheus_client, pygls.lsp.server, mcp.server"
    ),
}
ONLY_IN_BARS = {"spark"}
BROKEN = ROOT / "compose" / "scenarios" / "S02-inter-broker-loopback" / "kraft.broken.yml"
NO_ENGINE = "unix:///nonexistent/docker.sock"


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The wheel alone."""
    environment = create(tmp_path_factory.mktemp("bare"))
    environment.install(wheel, "--constraint", "constraints.txt")
    return environment


@pytest.fixture(scope="module", params=sorted(IMPORTS))
def extended(
    request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Environment]:
    """The wheel with an extra, or with two, and their names."""
    environment = create(tmp_path_factory.mktemp(request.param))
    environment.install(f"{wheel}[{request.param}]", "--constraint", "constraints.txt")
    return request.param, environment


def test_every_extra_is_installed_by_a_test() -> None:
    assert set(extras()) - {""} == {name for names in IMPORTS for name in names.split(",")} | ONLY_IN_BARS


def test_the_wheel_holds_the_package_with_its_data(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    code = {
        path.relative_to(ROOT).as_posix() for path in files() if path.is_relative_to(PACKAGE) and not path.is_symlink()
    }
    data = {
        f"{inside}/{path.relative_to(ROOT / folder).as_posix()}"
        for folder, inside in DATA.items()
        for path in files()
        if path.is_relative_to(ROOT / folder)
    }
    shared = f"netdiag_kafka-{__version__}.data/data"
    beside = {
        f"{shared}/{path.relative_to(ROOT).as_posix()}" for path in files() if path.is_relative_to(ROOT / "share")
    }
    assert held == code | data | beside


def test_the_wheel_is_called_as_pages_and_hints_call_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (member for member in archive.namelist() if member.endswith(".dist-info/METADATA"))
        assert f"\nName: {NAME}\n" in archive.read(metadata).decode()
    assert wheel.name in (ROOT / "docs" / "quick-start.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", sorted(DATA))
def test_a_checkout_finds_the_data_where_the_wheel_has_it(folder: str) -> None:
    if (ROOT / folder).exists():
        assert (ROOT / DATA[folder]).resolve() == (ROOT / folder).resolve()


def test_the_bare_install_tells_its_version(bare: Environment, tmp_path: Path) -> None:
    script = bare.netdiag("--version", cwd=tmp_path)
    module = bare.run("-m", "netdiag", "--version", cwd=tmp_path)
    assert script.returncode == module.returncode == 0
    assert __version__ in script.stdout
    assert script.stdout == module.stdout


def test_the_bare_install_puts_manual_and_completions_beside_the_command(bare: Environment) -> None:
    assert (bare.folder / "share/man/man1/netdiag-check-listeners.1").is_file()
    assert (bare.folder / "share/bash-completion/completions/netdiag").is_file()


def test_the_bare_install_lints_a_file(bare: Environment, tmp_path: Path) -> None:
    shutil.copy(BROKEN, tmp_path / "compose.yml")
    done = bare.netdiag("check-listeners", "compose.yml", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "compose.yml:" in done.stdout
    assert not done.stderr


def test_the_bare_install_finds_its_labs(bare: Environment, tmp_path: Path) -> None:
    done = bare.run(
        "-c",
        "from importlib.resources import files; print(len(list((files('netdiag') / 'data/compose').iterdir())))",
        cwd=tmp_path,
    )
    assert int(done.stdout) >= 1, done.stderr


def test_a_missing_extra_is_one_line_with_what_to_run(bare: Environment, tmp_path: Path) -> None:
    done = bare.netdiag("check-listeners", "--live", cwd=tmp_path)
    said = done.stdout + done.stderr
    assert done.returncode == 3, said
    assert [line.endswith(install_line("live")) for line in said.splitlines()].count(True) == 1, said
    assert "Traceback" not in said


def test_every_module_outside_io_and_traffic_loads_without_extras(bare: Environment, tmp_path: Path) -> None:
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] not in ("io", "traffic", "lsp", "mcp", "__main__.py")
    ]
    done = bare.run("-c", "\n".join(f"import {name}" for name in sorted(names)), cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_lint_loads_nothing_that_it_does_not_use(extended: tuple[str, Environment], tmp_path: Path) -> None:
    """With an extra installed, help and lint still do not import it."""
    _, environment = extended
    shutil.copy(BROKEN, tmp_path / "compose.yml")
    for words in (["--help"], ["check-listeners", "compose.yml"], ["rules"]):
        loaded = environment.run("-X", "importtime", "-m", "netdiag", *words, cwd=tmp_path).stderr
        roots = {line.rpartition("|")[2].strip().partition(".")[0] for line in loaded.splitlines()}
        assert "netdiag" in roots
        assert not roots & {
            "docker",
            "pyroute2",
            "scapy",
            "cryptography",
            "pyspark",
            "pyarrow",
            "pandas",
            "numpy",
            "networkx",
            "vl_convert",
            "pygls",
            "lsprotocol",
            "asyncio",
            "rich",
            "pydantic",
        }


def test_an_extra_brings_what_its_commands_import(extended: tuple[str, Environment], tmp_path: Path) -> None:
    extra, environment = extended
    done = environment.run("-c", IMPORTS[extra], cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_with_live_the_engine_is_what_is_missing(extended: tuple[str, Environment], tmp_path: Path) -> None:
    extra, environment = extended
    done = environment.netdiag("check-listeners", "--live", "--host", NO_ENGINE, cwd=tmp_path)
    assert done.returncode == 3, done.stdout + done.stderr
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    assert (install_line("live") in said) == (extra != "live")
