"""How a rule is named."""

from netdiag.linux.ruleset import Origin, RuleAddress


def test_an_address_names_table_chain_and_number() -> None:
    address = RuleAddress(
        family="ip", table="filter", chain="FORWARD", number=4, handle=9, text="-j DROP", origin=Origin.IPTABLES_NFT
    )
    assert str(address) == "iptables-nft ip filter FORWARD #4"
