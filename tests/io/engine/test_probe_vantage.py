"""Where a probe stands, by the word of the command line; containers as an engine of our own names them."""

import os
from pathlib import Path

import pytest

from netdiag.errors import InputError
from netdiag.io.engine.probe_vantage import probe_vantage
from netdiag.linux.netns import NamedNamespace, OwnNamespace, ProcessNamespace


def test_places_that_need_no_engine(tmp_path: Path) -> None:
    nowhere = {"DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    assert probe_vantage("host", environment=nowhere, home=tmp_path).entrance == OwnNamespace()
    assert probe_vantage("netns:lan", environment=nowhere, home=tmp_path).entrance == NamedNamespace(name="lan")
    own = probe_vantage(f"pid:{os.getpid()}", environment=nowhere, home=tmp_path)
    assert own.entrance == ProcessNamespace(pid=os.getpid())
    assert own.place == f"pid:{os.getpid()}"


@pytest.mark.parametrize("word", ["pid:", "pid:0", "pid:-1", "pid:1x", "pid:٣"])
def test_what_is_no_process(word: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        probe_vantage(word, environment={}, home=tmp_path)
