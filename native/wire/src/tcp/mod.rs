//! Both directions of a connection: segments in, Kafka messages out, in the order in which they can have happened.
//!
//! | module | does |
//! |---|---|
//! | [`dialogue`] | both sides: what is delivered first, which holes are given up, who is the client, what is spoken |
//! | `delivery` | one side in order, by its sequence numbers; what is early is held, what came twice is counted |
//! | `copies` | knows the last packets of a side again |
//! | `frames` | bytes and holes → messages, by their size fields |
//! | `unframed`, `resync`, `candidates` | bytes without known boundaries, and where a message begins in them |
//! | `identify` | what the first bytes of a stream are |
//! | `talk` | what both sides know of each other |
//! | `losses` | what is no message, or not all of one |

mod candidates;
mod copies;
mod delivery;
pub mod dialogue;
mod frames;
mod identify;
mod losses;
mod resync;
mod talk;
mod unframed;

pub use dialogue::{Dialogue, Figures, KEEP};
pub use losses::{Loss, Lost};
