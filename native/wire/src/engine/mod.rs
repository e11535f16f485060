//! The engine: packets in, rows out.
//!
//! Packets go in rounds, a piece of a file each, through stages: the router knows the connections, the worker reads their
//! messages, the assembler makes rows. What rows need of other connections goes to the ledger and comes back in between.
//! A thread takes a round through all stages, so that its bytes, and what is made of them, stay in the cache of one core;
//! several threads are in different stages at a time.
//!
//! | module | does |
//! |---|---|
//! | `router` | packets → work for connections, and what belongs to none |
//! | `worker` | segments of connections → exchanges |
//! | `assembler` | exchanges → rows |
//! | `ledger` | what all connections tell together, and what belongs to none |
//! | `raw` | packets → rows of packets and segments, where nothing else is wanted |
//! | [`single`] | all of these one after the other; the state can be saved |
//! | [`following`] | files that grow to rows, batch by batch |
//! | `turns` | the order of threads in stages |
//! | [`reading`] | files to rows, in threads |

mod assembler;
pub mod following;
mod ledger;
mod raw;
pub mod reading;
mod router;
pub mod single;
mod turns;
mod work;
mod worker;

pub use assembler::Copies;
pub use following::{Allowed, Follower, Latest, Tally};
pub use reading::{Broken, Progress, Reading, Turn};
pub use single::Engine;
