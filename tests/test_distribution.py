"""What installs netdiag, before and after its names are on the package index."""

import pytest

from netdiag import distribution
from netdiag.distribution import NAME, install_command, install_line


def test_until_it_is_published_a_clone_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distribution, "PUBLISHED", False)
    assert install_command() == "pip install ."
    assert install_command("live", "capture") == "pip install '.[live,capture]'"
    assert install_line("live") == "in a clone of netdiag, run pip install '.[live]'"


def test_once_it_is_published_its_name_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distribution, "PUBLISHED", True)
    assert NAME == "netdiag-kafka"
    assert install_command() == f"pip install {NAME}"
    assert install_line("live") == install_command("live") == f"pip install '{NAME}[live]'"
