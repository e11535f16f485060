//! What is promised of the capture engine for any bytes: no panic, nothing invented, bounded memory.
//!
//! Each module has one `check`, which panics where a promise is broken. `targets/` hands them to libFuzzer, which finds
//! inputs that reach new code, and `tests/` gives them the inputs that lie in `corpus/`. Time is bounded by whoever runs
//! them. An input begins with the decisions of a [`Script`].
//!
//! | module | inputs are |
//! |---|---|
//! | [`capture`] | capture files, compressed or not, whole or through a pipe |
//! | [`tcp`] | what befalls the packets of a conversation that is made here; segments of any bytes |
//! | [`messages`] | bodies of requests and responses, whole, cut, and in pieces |
//! | [`unpacking`] | compressed record batches |
//! | [`logs`] | logs of brokers with their indexes, and snapshots |
//! | [`state`] | captures that are read with breaks, and what befalls the saved state in between |

use std::alloc::System;

use cap::Cap;

pub mod capture;
mod conversation;
pub mod logs;
pub mod messages;
mod script;
pub mod state;
pub mod tcp;
pub mod unpacking;

pub use conversation::{Conversation, Packet};
pub use script::Script;

/// More than this is never held for inputs of these sizes; whoever asks for it is ended.
const MOST_MEMORY: usize = 192 << 20;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, MOST_MEMORY);
