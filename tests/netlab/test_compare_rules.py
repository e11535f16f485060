"""The comparator sees what is missing, what is too much, and what is told otherwise."""

from dataclasses import replace

from netdiag.linux.ruleset import Ruleset
from tests.netlab.compare_rules import compare_rules
from tests.netlab.filtering import inside, made_namespace, restore, ruleset_of


def test_every_kind_of_difference_is_seen() -> None:
    with made_namespace() as name:
        restore(name, "iptables-nft", "filter", ("-A INPUT -s 10.0.0.1/32 -j DROP", "-A INPUT -j ACCEPT"))
        inside(name, "nft", "-f", "-", stdin="table inet t { chain c { accept; drop; }; }")
        ruleset = ruleset_of(name)
        assert compare_rules(ruleset, name).compared == 4
        nothing = compare_rules(Ruleset(), name)
        assert (len(nothing.missing), nothing.equal) == (10, False)
        tables = []
        for table in ruleset.tables:
            chains = []
            for chain in table.chains:
                told = [replace(rule, text="something else") for rule in chain.rules]
                chains.append(replace(chain, rules=(*told,)))
            tables.append(replace(table, chains=tuple(chains)))
        assert len(compare_rules(Ruleset(tables=tuple(tables)), name).differing) == 4
        restore(name, "iptables-nft", "filter", ("-A INPUT -s 10.0.0.2/32 -j DROP",))
        assert compare_rules(ruleset, name).missing
        inside(name, "nft", "delete", "table", "inet", "t")
        assert compare_rules(ruleset, name).extra
