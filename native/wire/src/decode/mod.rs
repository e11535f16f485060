//! Headers: a packet in, a TCP segment, UDP datagram or ICMP error out, or why it is none.
