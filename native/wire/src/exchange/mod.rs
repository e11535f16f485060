//! Messages in, exchanges and the rows below them out.

pub mod row;
