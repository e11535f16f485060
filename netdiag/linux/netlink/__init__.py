"""What the kernel is asked over rtnetlink, as bytes, and its answers as the values of `netdiag.linux`; no socket here.

Whoever has a socket sends a request and hands each payload of the answer to the decoder beside the request. Byte order
and padding are those of this machine. A decoder raises `Malformed` (a ValueError) for bytes that no kernel sends, and
nothing else. Devices inside details (`link`, `active_slave`, `via`) are given by index, where `ip` looks their names
up; the index belongs to the namespace in `link_netnsid`. Names that are not UTF-8 have their bytes as "\\xff".

| module | requests | decoders |
|---|---|---|
| `links` | `request_links`, `request_netconf` | `decode_link`, `decode_link_settings`, `decode_netconf` |
| `links` | `request_bridge_vlans`, `request_nsid` | `decode_bridge_vlans`, `decode_nsid` |
| `addresses` | `request_addresses` | `decode_address` |
| `addresses` | `request_neighbours`, `request_proxy_neighbours` | `decode_neighbour` |
| `addresses` | `request_fdb` | `decode_fdb_entry` |
| `routes` | `request_routes`, `request_routing_rules` | `decode_route`, `decode_routing_rule` |

`netdiag.linux.sockets` does the same for inet_diag; `nfnetlink` reads the attributes of nf_tables and conntrack.

Sources: netlink(7), rtnetlink(7), linux/netlink.h, linux/rtnetlink.h, linux/if_link.h.
"""
