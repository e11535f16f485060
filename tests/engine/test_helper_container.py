"""What the engine is asked for: no more rights than needed, nothing that stays."""

import pytest

from netdiag.engine.container import in_sight, parse_container
from netdiag.engine.helper_container import LABEL, Helper, Right, in_memory, is_helper
from netdiag.errors import InputError
from tests.engine.test_documents import BROKER

HELPER = Helper(
    image="netdiag:1",
    socket="/var/run/docker.sock",
    shown_as="/run/engine.sock",
    rights=[Right.ENTER, Right.LOOK_INTO_PROCESSES],
    folders=["/home"],
)


def test_it_may_look_and_do_nothing_else() -> None:
    host = HELPER.document()["HostConfig"]
    assert (host["CapDrop"], host["CapAdd"]) == (["ALL"], ["SYS_ADMIN", "SYS_PTRACE"])
    assert host["ReadonlyRootfs"] is True
    assert "no-new-privileges" in host["SecurityOpt"]
    assert {(one["Source"], one["Target"], one["ReadOnly"]) for one in host["Mounts"]} == {
        ("/var/run/docker.sock", "/run/engine.sock", True),
        ("/run/netns", "/run/netns", True),
    }
    assert not host.get("Privileged")
    assert set(host["Tmpfs"]) == {"/home"}


def test_nothing_of_it_stays() -> None:
    document = HELPER.document()
    assert document["HostConfig"]["AutoRemove"] is True
    assert document["HostConfig"]["LogConfig"]["Type"] == "none"
    assert document["StdinOnce"] is True
    assert "Env" not in document


def test_without_named_namespaces_there_is_no_folder_of_them() -> None:
    helper = Helper(image="i", socket="/s", shown_as="/s", rights=[], named=False)
    assert [one["Target"] for one in helper.document()["HostConfig"]["Mounts"]] == ["/s"]


def test_helpers_are_not_looked_at() -> None:
    assert is_helper(HELPER.document()["Labels"])
    config = BROKER["Config"] | {"Labels": {LABEL: "1"}}
    helper = parse_container(BROKER | {"Config": config})
    assert in_sight([helper, parse_container(BROKER)]) == (parse_container(BROKER),)


@pytest.mark.parametrize(
    ("folders", "places"),
    [
        (["/srv/me/project", "/srv/me"], ("/srv",)),
        (["/data/me/p", "/tmp/x"], ("/data", "/tmp")),
        (["/etc/kafka/secrets", "/opt/kafka"], ("/etc/kafka", "/opt/kafka")),
        (["/usr/src/app", "/var/lib/ci"], ("/usr/src", "/var/lib")),
        (["/"], ()),
    ],
)
def test_where_folders_are_made(folders: list[str], places: tuple[str, ...]) -> None:
    assert in_memory(folders) == places


@pytest.mark.parametrize(
    "folder", ["/usr/lib/python3", "/etc", "/proc/1", "/opt/netdiag/lib", "/usr/local/bin", "/lib"]
)
def test_what_the_helper_is_made_of_is_not_hidden(folder: str) -> None:
    with pytest.raises(InputError, match="cannot go along"):
        in_memory([folder])
