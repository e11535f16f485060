"""Legacy tables by getsockopt."""

from netdiag.io.kernel.legacy_tables import legacy_tables
from netdiag.io.netns import open_namespace
from netdiag.linux.netns import NamedNamespace
from tests.netlab.filtering import inside, made_namespace


def test_only_tables_that_are_there_are_asked_for() -> None:
    with made_namespace() as name:
        inside(name, "ip6tables-legacy", "-t", "mangle", "-A", "FORWARD", "-j", "DROP")
        with open_namespace(NamedNamespace(name=name)) as opened:
            tables, unread = opened.run(legacy_tables)
            assert opened.run(legacy_tables) == (tables, unread)
    assert [(table.family, table.name) for table in tables] == [("ip6", "mangle")]
    assert unread == ()
    (rule,) = [rule for chain in tables[0].chains for rule in chain.rules]
    assert rule.text == "-A FORWARD -j DROP"
    assert {chain.name: chain.priority for chain in tables[0].chains}["FORWARD"] == -150
