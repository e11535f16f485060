//! From the bytes of packet captures to rows about the Kafka messages in them, and from logs to rows about their records.
//!
//! The stages, each a module that can be tried alone; every stage hands plain values to the next:
//!
//! | module | takes → gives |
//! |---|---|
//! | [`capture`] | bytes of files in any pieces → packets in the order of time; what is no packet is counted |
//! | [`decode`] | packet → TCP segment, UDP datagram, ICMP error, or why not |
//! | [`flow`] | segment → its connection, also under translated addresses |
//! | [`tcp`] | segments of a connection → bytes in order, holes declared when the other side proves them → messages |
//! | [`kafka`] | message → facts, by programs made of the table of Kafka's messages |
//! | [`exchange`] | messages → exchanges, and the rows below them |
//! | [`folds`] | rows → partial sums of those that are alike |
//! | [`rows`] | rows → Arrow, CSV and JSON |
//! | [`engine`] | packets → rows, all of these one behind the other |
//! | [`storage`] | files of a broker's data directory → rows about the batches and records in them |
//!
//! Nothing here knows Python, opens a socket or writes a file. Foreign bytes never panic: every length, count and depth
//! is checked against what is left before anything is allocated.

pub mod capture;
pub mod decode;
pub mod engine;
pub mod exchange;
pub mod facts;
pub mod flow;
pub mod folds;
pub mod kafka;
pub mod message;
pub mod options;
mod ordered;
pub mod packet;
mod queue;
pub mod rows;
pub mod state;
pub mod storage;
pub mod tcp;
