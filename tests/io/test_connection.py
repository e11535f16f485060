"""What an errno and what a conversation's end mean."""

import asyncio
import errno
import os
import socket

import pytest

from netdiag.deployment.model.contact import Answered, Contact, Failed, Reason, Unknown
from netdiag.io.connection import Target, connect, connect_failure, converse
from netdiag.io.limits import Allowance
from netdiag.io.lines import PlainLine
from netdiag.kafka.conversation import Conversation
from tests.io import hostile
from tests.io.hostile import Behaviour, ScriptedBroker, serving

TARGET = Target(ip="10.0.0.1", port=9092)


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ECONNREFUSED, Reason.REFUSED),
        (errno.ETIMEDOUT, Reason.TIMEOUT),
        (errno.EHOSTUNREACH, Reason.UNREACHABLE),
        (errno.ENETUNREACH, Reason.UNREACHABLE),
        (errno.EACCES, Reason.UNREACHABLE),
        (errno.EINVAL, Reason.UNREACHABLE),
        (errno.ECONNRESET, Reason.CLOSED),
        (errno.EMFILE, None),
        (errno.EADDRNOTAVAIL, None),
    ],
)
def test_an_errno_has_its_reason(number: int, reason: Reason | None) -> None:
    found = connect_failure(OSError(number, os.strerror(number)), TARGET)
    if reason is None:
        # Our own limits say nothing about the target.
        assert isinstance(found, Unknown)
    else:
        assert isinstance(found, Failed)
        assert (found.reason, found.ip) == (reason, "10.0.0.1")


def test_an_ipv6_target_has_its_family_and_brackets() -> None:
    target = Target(ip="2001:db8::1", port=9092)
    assert target.family is socket.AF_INET6
    assert str(target) == "[2001:db8::1]:9092"


async def _contact(port: int) -> Contact:
    deadline = asyncio.get_running_loop().time() + 2
    target = Target(ip="127.0.0.1", port=port)
    with socket.socket() as channel, Allowance().answer() as share:
        channel.setblocking(False)
        failure = await connect(channel, target, deadline, 2)
        return failure or await converse(PlainLine(channel), target, Conversation(), share, deadline)


def test_a_broker_answers_with_what_it_is() -> None:
    broker = ScriptedBroker(node_id=7, brokers=[(7, "h" * 300, 9092), (8, "other", 1)])
    with serving(broker) as port:
        contact = asyncio.run(_contact(port))
    assert isinstance(contact, Answered)
    assert contact.node_id == 7
    assert contact.ip == "127.0.0.1"
    assert contact.because == f"node 7 answers from 127.0.0.1:{port}"
    # No host name is longer: what is cut cannot be resolved in any case.
    assert [len(b.host) for b in contact.brokers] == [255, 5]


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [(hostile.immediate_close, Reason.CLOSED), (hostile.tls_alert, Reason.TLS), (hostile.http, Reason.NOT_KAFKA)],
)
def test_an_end_without_an_answer(behaviour: Behaviour, reason: Reason) -> None:
    with serving(behaviour) as port:
        contact = asyncio.run(_contact(port))
    assert isinstance(contact, Failed)
    assert contact.reason is reason
