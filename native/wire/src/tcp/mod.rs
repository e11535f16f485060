//! Both directions of a connection: segments in, Kafka messages out, in the order in which they can have happened.
