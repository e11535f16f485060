"""Identifiers that stay, and hold nothing of what they stand for."""

import re

from netdiag.render.topology.lookup import Lookup, device_id, stable_id
from tests.render.topology.hostile import EVIL
from tests.render.topology.namespaces import HOST, link_of
from tests.render.topology.topologies import cluster


def test_the_same_names_give_the_same_identifier_and_others_another() -> None:
    assert stable_id("a", "b") == stable_id("a", "b") == "n59b271ae1bbc"
    assert len({stable_id("a", "b"), stable_id("ab"), stable_id("a", "b", ""), stable_id("b", "a")}) == 4


def test_any_text_gives_letters_and_digits() -> None:
    assert re.fullmatch(r"n[0-9a-f]{12}", stable_id(EVIL, "\udcff", ""))


def test_a_device_is_its_name_at_its_place() -> None:
    lookup = Lookup(cluster())
    assert device_id(lookup, link_of(HOST, 2)) == stable_id("device", "host", "eth0")
