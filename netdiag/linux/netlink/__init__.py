"""What the kernel is asked over netlink, as bytes, and its answers as the values of `netdiag.linux`; no socket here.

Who has a socket sends a request, takes the datagrams apart with `messages.messages` and hands each payload to the
decoder beside the request. Byte order and padding are those of this machine. A decoder raises `Malformed` (a
ValueError) for bytes that no kernel sends, and nothing else. Devices inside details (`link`, `active_slave`, `via`) are
told by index, where `ip` looks their names up; the index is one of the namespace that `link_netnsid` says. Names that
are not UTF-8 have their bytes as "\\xff".

| module | requests | decoders |
|---|---|---|
| `messages` | `with_sequence` | `messages`, `Message`, `Refusal`, `decode_refusal`, `MessageType` |
| `links` | `request_links` | `decode_link` |
| `addresses` | `request_addresses` | `decode_address` |
| `routes` | `request_routes` | `decode_route` |
| `rules` | `request_rules` | `decode_rule` |
| `neighbours` | `request_neighbours`, `request_proxy_neighbours` | `decode_neighbour` |
| `forwarding` | `request_forwarding` | `decode_forwarding` |
| `bridge_vlans` | `request_bridge_vlans` | `decode_bridge_vlans` |
| `nsids` | `request_nsid`, `request_nsids` | `decode_nsid` |
| `sockets` | `request_listeners` | `decode_listener` |

Sources: netlink(7), rtnetlink(7), sock_diag(7), linux/netlink.h, linux/rtnetlink.h, linux/if_link.h.
"""
