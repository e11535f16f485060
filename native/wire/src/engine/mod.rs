//! The engine: packets in, rows out.
//!
//! Packets go in rounds, a piece of a file each, from the router, which knows the connections, to workers, which read
//! the messages of some of them each, to the assembler, which puts what they found in the order of the capture.
//!
//! | module | does |
//! |---|---|
//! | `router` | packets → work for connections, and what belongs to none |
//! | `worker` | segments of connections → exchanges |
//! | `assembler` | exchanges → rows |
//! | `raw` | packets → rows of packets and segments, where nothing else is wanted |
//! | [`single`] | all three one after the other; the state can be saved |
//! | [`following`] | files that grow to rows, batch by batch |
//! | [`reading`] | files to rows, each of the three in threads of its own |

mod assembler;
pub mod following;
mod raw;
pub mod reading;
mod router;
pub mod single;
mod work;
mod worker;

pub use assembler::Copies;
pub use following::{Allowed, Follower, Latest, Tally};
pub use reading::{Broken, Progress, Reading, Turn};
pub use single::Engine;
