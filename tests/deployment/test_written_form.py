"""What can be asked of a written form: each source answers all of it, and the form itself nothing."""

import inspect

import pytest

from netdiag.deployment.model.deployment import MemberEditor, PublishedPort
from netdiag.deployment.sources.compose_text import ComposeServiceEditor
from tests.render.literals import place

PORT = PublishedPort(target=1, published=2, host_ip="", protocol="tcp", where=place(b"x", "x", "c.yml"))
ASKED = [name for name, value in vars(MemberEditor).items() if inspect.isfunction(value)]


def test_a_compose_service_answers_everything() -> None:
    assert ASKED
    assert set(ASKED) <= vars(ComposeServiceEditor).keys()


def test_the_form_itself_answers_nothing() -> None:
    with pytest.raises(NotImplementedError):
        MemberEditor().change_port(PORT, target=3)
