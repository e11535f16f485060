"""What can be known of an engine that is not on this machine, and of what it does not have."""

from pathlib import Path
from typing import Any

import pytest

from netdiag.errors import EngineError, InputError
from netdiag.io.live import Live, look
from netdiag.linux.netns import OwnNamespace
from tests.engine.test_container import BROKER
from tests.io.fake_engine import VERSION, fake_engine


def answers(**state: object) -> dict[str, Any]:
    document = BROKER | {"State": BROKER["State"] | {"Pid": 1} | state}
    identifier = BROKER["Id"]
    return {
        "/version": VERSION,
        "/containers/json": [{"Id": identifier}],
        f"/containers/{identifier}/json": document,
        "/networks": [{"Name": "held_kafka", "Id": "n1", "Driver": "bridge"}],
    }


def looked(tmp_path: Path, document: dict[str, Any], **how: Any) -> Live:
    with fake_engine(tmp_path / "s", document) as url:
        return look(host=url, environment={}, home=tmp_path, **how)


def test_an_engine_on_another_machine(tmp_path: Path) -> None:
    """Process 1 is there, as everywhere, and is not the container's: nothing of this machine is taken for it."""
    live = looked(tmp_path, answers(), project="held", netns=["lan"])
    assert [b.name for b in live.deployment.brokers] == ["broker-1"]
    assert [s.vantage.label for s in live.stances] == ["docker host", "netns:lan"]
    assert live.stances[0].entrance == OwnNamespace()
    (skipped,) = live.skipped
    assert skipped.vantage.label == "inside broker-1"
    assert "another machine" in skipped.because
    assert not skipped.rights
    assert live.sockets == {}
    assert live.deployment.platform.userland_proxy is None


def test_a_stopped_broker_is_told_even_without_a_log(tmp_path: Path) -> None:
    live = looked(tmp_path, answers(Status="exited", Pid=0, ExitCode=1))
    assert str(live.stopped["broker-1"]) == "not running, exit code 1"


@pytest.mark.parametrize("how", [{"project": "other"}, {"names": ["nobody"]}, {"names": ["held-broker-1-1", "x"]}])
def test_what_the_engine_does_not_have(tmp_path: Path, how: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="the engine has no container"):
        looked(tmp_path, answers(), **how)


def test_a_project_is_found_by_the_file_it_was_started_from(tmp_path: Path) -> None:
    documents = answers()
    (container,) = [v for k, v in documents.items() if k.endswith("/json") and k != "/containers/json"]
    container["Config"]["Labels"]["com.docker.compose.project.config_files"] = "/shop/a.yml,/shop/b.yml"
    assert looked(tmp_path, documents, project="shop", compose_file="/shop/b.yml").deployment.name == "held"


def test_another_file_of_another_name_is_not_taken_for_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the engine has no container"):
        looked(tmp_path, answers(), project="shop", compose_file="/shop/c.yml")


def test_no_engine(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no engine answers there"):
        look(host=f"unix://{tmp_path}/none", environment={}, home=tmp_path)
