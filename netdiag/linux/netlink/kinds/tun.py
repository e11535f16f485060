"""tun and tap, the devices whose other end is a program (IFLA_TUN_*)."""

from netdiag.linux.netlink.readers import Fields, number, truth, word

# `user` and `group` are numbers here; `ip` looks their names up.
TUN: Fields = {
    1: ("user", number),
    2: ("group", number),
    3: ("type", word({1: "tun", 2: "tap"})),
    4: ("pi", truth),
    5: ("vnet_hdr", truth),
    6: ("persist", truth),
    7: ("multi_queue", truth),
    8: ("numqueues", number),
    9: ("numdisabled", number),
}
