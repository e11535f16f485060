//! The engine: packets in, rows out.
//!
//! Packets go in rounds, a piece of a file each, from the router, which knows the connections, to workers. Each reads the
//! messages of some connections and makes their rows, so that what messages tell stays in the caches of one core. What rows
//! need of other connections goes to the ledger and comes back in between; in the end rows are put in the order of the
//! capture.
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
//! | [`reading`] | files to rows: the router in a thread, each worker with its assembler in another |

mod assembler;
pub mod following;
mod ledger;
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
