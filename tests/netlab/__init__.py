"""Labs of network namespaces with every kind of device that this kernel can make, and iproute2 as the oracle.

`with netlab(5) as lab:` (tests.netlab.lab) makes a hub with bridges and as many namespaces around it, each joined to
the hub by a veth pair whose ends have the same indexes as those of its neighbours. Every namespace has addresses,
routes, rules, neighbours and four listeners, and what one recipe of `tests.netlab.recipes` adds: the kinds of devices
in turn, then hostile names. The last five are without a name: held only by a process, a thread, a descriptor, a
socket, or a bind mount that nobody else sees. All is removed at the end; nothing outside of it is touched.

`lab.rooms` are the namespaces (`Room.inode`, `Room.name`, `Room.open()` for a descriptor), `lab.listeners` what was
bound where, `lab.kinds` and `lab.lacking` the kinds that this kernel can and cannot make.

`compare(facts, said)` (tests.netlab.compare) holds a `NamespaceFacts` against what `ask(descriptor)`
(tests.netlab.iproute2_output) got from `ip -d -j` and `bridge -d -j` in the same namespace: objects compared, missing
with us, extra with us, differing. `read_facts(descriptor)` (tests.netlab.dumps) reads a namespace with the decoders of
`netdiag.linux.netlink` alone.
"""
