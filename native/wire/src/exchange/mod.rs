//! Exchanges: requests paired with their responses, and the rows of them.
//!
//! | module | does |
//! |---|---|
//! | [`pairing`] | messages of one connection → exchanges, by their correlation ids |
//! | [`assembly`] | exchanges → rows |
//! | [`lessons`] | what only the exchanges of all connections together tell |
//! | `details` | the rows below those of `exchanges` |
//! | `topics`, `sessions` | which topic an id means; which offsets are in force in a fetch session |
//! | `payloads` | keys and values, for whoever asks for them |
//! | [`losses`] | sums of what was not decoded |
//! | [`places`] | names for addresses |
//! | [`row`] | the rows themselves |

pub mod assembly;
mod details;
pub mod lessons;
pub mod losses;
pub mod pairing;
mod payloads;
pub mod places;
pub mod row;
pub mod sessions;
mod topics;

pub use assembly::{Assembly, Context};
pub use lessons::{Known, Learned, Lessons};
pub use losses::{Losses, Sum};
pub use pairing::{Event, Exchange, FreeRequests, KEEP_WHOLE, Pairing, PairingSink, Rooms};
pub use payloads::Room;
pub use places::{Named, Places};
pub use topics::Topics;
