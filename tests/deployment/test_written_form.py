"""What can be asked of a written form: each source answers all of it, and the form itself nothing."""

import inspect

import pytest

from netdiag.deployment.member import PublishedPort
from netdiag.deployment.written_form import Written
from netdiag.deployment.written_service import WrittenService
from tests.render.literals import place

PORT = PublishedPort(target=1, published=2, host_ip="", protocol="tcp", where=place(b"x", "x", "c.yml"))
ASKED = [name for name, value in vars(Written).items() if inspect.isfunction(value)]


def test_a_compose_service_answers_everything() -> None:
    assert ASKED
    assert set(ASKED) <= vars(WrittenService).keys()


def test_the_form_itself_answers_nothing() -> None:
    with pytest.raises(NotImplementedError):
        Written().change_port(PORT, target=3)
