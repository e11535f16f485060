"""Where other engines come from, as far as no network is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.errors import LabImpossible
from tests.lab.releases import OWN, debian_mirrors, usr_of

_STANZAS = """
Types: deb
# a remark
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main

Types: deb-src
URIs: http://sources.example/debian
Suites: bookworm
Components: main
"""
_LINES = """
# deb http://old.example/debian bookworm main
deb [signed-by=/usr/share/keyrings/x.gpg arch=amd64] https://other.example/debian/ bookworm main
deb https://packages.example/tool stable main
deb http://mirror.example/debian bookworm contrib
"""


def test_the_archives_are_those_of_apts_files(tmp_path: Path) -> None:
    parts = tmp_path / "sources.list.d"
    parts.mkdir()
    (tmp_path / "sources.list").write_text(_LINES)
    (parts / "debian.sources").write_text(_STANZAS)
    (parts / "debian.sources.save").write_text(_STANZAS.replace("mirror", "saved"))
    assert debian_mirrors(tmp_path) == ["https://other.example/debian/", "http://mirror.example/debian"]


def test_without_apt_there_are_none(tmp_path: Path) -> None:
    assert debian_mirrors(tmp_path) == []


def test_the_machines_own_engine_is_taken_as_it_is(tmp_path: Path) -> None:
    assert usr_of(tmp_path, OWN) is None
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabImpossible, match=r"no engine '19\.03', there are 20\.10, 28, 29, 29 nftables"):
        usr_of(tmp_path, "19.03")
