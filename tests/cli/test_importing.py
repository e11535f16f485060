"""The collector goes on afterwards, unless it was off before."""

import gc

import pytest

from netdiag.cli.importing import without_collector


def test_it_is_off_meanwhile_and_on_afterwards() -> None:
    assert gc.isenabled()
    with without_collector():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_is_on_after_an_import_that_failed() -> None:
    with pytest.raises(ImportError), without_collector():
        raise ImportError
    assert gc.isenabled()


def test_one_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        with without_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
