//! Capture files: bytes in pieces of any size in, packets in the order of time out.
