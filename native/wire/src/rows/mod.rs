//! Rows of the tables as columns: Arrow, CSV and JSON.
