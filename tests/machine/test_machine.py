"""What is missing on a machine is named with what it is needed for and what would mend it."""

import json
import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdiag.distribution import install_line
from netdiag.engine.helper_container import (
    LARGEST_FRAME,
    LARGEST_ORDER,
    Frames,
    Garbled,
    Hello,
    Kind,
    Order,
    Terminal,
    decode_file,
    decode_hello,
    decode_order,
    encode_file,
    encode_hello,
    encode_order,
    frame,
    length_of,
)
from netdiag.machine import Found, Machine, State, Trouble, abilities, install

WELL = Machine(
    system="Linux",
    kernel="6.1.0",
    families=("debian",),
    python="3.11.2",
    netdiag="1.0",
    is_root=True,
    rights=frozenset({"NET_ADMIN", "NET_RAW", "SYS_ADMIN", "SYS_PTRACE"}),
    engine=Found(what="Docker Engine 28.5.2"),
    namespaces=Found(what="entered one"),
    packet_socket=Found(what="a packet socket can be opened"),
    java=Found(what="Java in /usr/lib/jvm/x"),
    capture_engine=Found(what="netdiag_native 0.1.0"),
    tools={"tcpdump": "/usr/bin/tcpdump", "dumpcap": None, "tshark": None, "docker": "/usr/bin/docker"},
    libraries=dict.fromkeys(
        ("docker", "pyroute2", "cryptography", "scapy", "pyspark", "pyarrow", "pandas", "networkx"), "1"
    ),
    temporary="/tmp",
    free_bytes=100 << 30,
    memory_bytes=16 << 30,
)


def test_a_machine_with_everything_can_do_everything() -> None:
    assert {each.state for each in abilities(WELL)} == {State.OK}
    assert not any(each.fix for each in abilities(WELL))


NOT_THERE = Found(why_not="no engine answers there", trouble=Trouble.NOBODY)


CASES: list[tuple[str, Machine, State, str]] = [
    ("engine", replace(WELL, engine=NOT_THERE), State.MISSING, "sudo systemctl start docker"),
    ("engine", replace(WELL, engine=NOT_THERE, tools={}), State.MISSING, "sudo apt-get install docker.io"),
    (
        "engine",
        replace(WELL, engine=Found(why_not="permission denied", trouble=Trouble.FORBIDDEN)),
        State.MISSING,
        "sudo usermod -aG docker $USER",
    ),
    ("engine", replace(WELL, engine=Found(why_not="no library", fix="pip install x")), State.MISSING, "pip install x"),
    ("libraries of live", replace(WELL, libraries={}), State.MISSING, install_line("live")),
    ("libraries of capture", replace(WELL, libraries={}), State.MISSING, install_line("capture")),
    ("libraries of spark", replace(WELL, libraries={"pyspark": "4"}), State.MISSING, install_line("spark")),
    ("namespaces", replace(WELL, namespaces=Found(why_not="no", fix="sudo")), State.LIMITED, "sudo"),
    ("namespaces", replace(WELL, is_root=False, rights=frozenset({"SYS_ADMIN"})), State.LIMITED, "run netdiag as root"),
    ("namespaces", replace(WELL, system="Darwin"), State.LIMITED, "--via container"),
    ("packets", replace(WELL, packet_socket=Found(why_not="CAP_NET_RAW", fix="sudo")), State.MISSING, "sudo"),
    ("fast capture", replace(WELL, tools={}), State.LIMITED, "sudo apt-get install tcpdump"),
    ("java", replace(WELL, java=Found(why_not="found none")), State.MISSING, "apt-get install default-jre-headless"),
    ("capture engine", replace(WELL, capture_engine=Found(why_not="none", fix="pip")), State.MISSING, "pip"),
    ("large pictures", replace(WELL, libraries={}), State.LIMITED, install_line("picture")),
    ("disk", replace(WELL, free_bytes=1 << 20), State.LIMITED, "TMPDIR"),
    ("memory", replace(WELL, memory_bytes=1 << 30), State.LIMITED, "free memory"),
]


@pytest.mark.parametrize(("name", "machine", "state", "fix"), CASES)
def test_what_is_missing(name: str, machine: Machine, state: State, fix: str) -> None:
    [found] = [each for each in abilities(machine) if each.name == name]
    assert found.state is state
    assert fix in found.fix
    assert found.told
    assert found.serves


def test_what_has_a_reason_against_it_is_not_there() -> None:
    assert Found(what="1.0").is_there
    assert not Found(why_not="none").is_there


@pytest.mark.parametrize(
    ("program", "families", "command"),
    [
        ("tcpdump", ("debian",), "sudo apt-get install tcpdump"),
        ("tcpdump", ("ubuntu", "debian"), "sudo apt-get install tcpdump"),
        ("java", ("rocky", "rhel", "fedora"), "sudo dnf install java-21-openjdk-headless"),
        ("java", ("darwin",), "brew install openjdk@21"),
        ("tcpdump", ("nobody-knows",), "install tcpdump"),
        ("docker", (), "install docker"),
    ],
)
def test_the_command(program: str, families: tuple[str, ...], command: str) -> None:
    assert install(program, families) == command


ORDER = Order(
    words=("check-listeners", "--live", "ä.yml"),
    folder="/srv/me",
    container="abc",
    socket="/run/docker.sock",
    environment={"PORT": "9092"},
    files={"/srv/me/ä.yml": b"services:\n\xff"},
    folders=("/srv/me",),
    links={"/srv/link": "/srv/me"},
    results=("/srv/me/out.json",),
    stdin=b"\x00line",
    terminal=Terminal(out=True, errors=False, encoding="utf-8"),
)


def test_an_order_arrives_as_it_was_sent() -> None:
    data = encode_order(ORDER)
    assert length_of(data[:8]) == len(data) - 8
    assert decode_order(data[8:]) == ORDER


def test_no_file_shows_in_what_python_prints_of_an_order() -> None:
    assert "services" not in repr(ORDER)
    assert "9092" not in repr(ORDER)


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"nonsense", b'{"words": 1}', b"[" * 100_000])
def test_what_is_no_order(body: bytes) -> None:
    with pytest.raises(Garbled):
        decode_order(body)


def test_an_order_with_damaged_files() -> None:
    document = json.loads(encode_order(ORDER)[8:]) | {"files": {"/a": "%%%"}}
    with pytest.raises(Garbled):
        decode_order(json.dumps(document).encode())


def test_an_endless_order() -> None:
    with pytest.raises(Garbled):
        length_of(struct.pack(">Q", LARGEST_ORDER + 1))


@given(st.lists(st.tuples(st.sampled_from(Kind), st.binary(max_size=40))), st.integers(1, 50))
def test_frames_arrive_whole_in_any_pieces(sent: list[tuple[Kind, bytes]], size: int) -> None:
    stream = b"".join(frame(kind, data) for kind, data in sent)
    frames = Frames()
    got = [one for at in range(0, len(stream), size) for one in frames.feed(stream[at : at + size])]
    assert got == sent


@pytest.mark.parametrize("data", [b"?\x00\x00\x00\x00", struct.pack(">cI", b"O", LARGEST_FRAME + 1)])
def test_what_is_no_frame(data: bytes) -> None:
    with pytest.raises(Garbled):
        list(Frames().feed(data))


def test_a_greeting() -> None:
    hello = Hello(protocol=1, version="0.1.0", rights=("SYS_ADMIN",))
    assert decode_hello(encode_hello(hello)) == hello
    for data in (b"", b"[]", b'{"protocol": "x", "version": 1, "rights": []}'):
        with pytest.raises(Garbled):
            decode_hello(data)


def test_a_file() -> None:
    assert decode_file(encode_file("/ä", b"\x00\xff")) == ("/ä", b"\x00\xff")
    for data in (b"", b"\x00\x00\x00\x09abc", b"\x00\x00\x00\x01\xff"):
        with pytest.raises(Garbled):
            decode_file(data)
