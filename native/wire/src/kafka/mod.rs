//! Kafka's messages: the table of their layouts, and programs made of it that read what a body tells.

pub mod members;
pub mod records;
