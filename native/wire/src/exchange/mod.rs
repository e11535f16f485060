//! Messages in, exchanges and the rows below them out.
