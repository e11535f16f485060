"""From captured packets to rows: without I/O, without Spark."""
