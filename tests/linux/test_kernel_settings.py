"""Switches that nobody has read say nothing."""

from dataclasses import fields

from netdiag.linux.kernel_settings import KernelSettings


def test_what_was_not_read_is_neither_on_nor_off() -> None:
    nothing = KernelSettings()
    assert {getattr(nothing, field.name) for field in fields(nothing)} == {None, ()}
