//! Connections: which one a segment belongs to, and on which side of it, also under translated addresses.
