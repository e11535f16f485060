//! Makes Rust of the tables that `netdiag/traffic/tables.json` describes: `rows` has no list of columns of its own.
//!
//! `tables.json` lies here as a link, which becomes a copy where the sources are packed.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use serde_json::Value;

/// The tables that are filled here, and what a row of each is called.
const FILLED: [(&str, &str); 18] = [
    ("exchanges", "ExchangeRow"),
    ("partitions", "PartitionRow"),
    ("batches", "BatchRow"),
    ("group_events", "GroupEventRow"),
    ("endpoints", "EndpointRow"),
    ("leaders", "LeaderRow"),
    ("connections", "ConnectionRow"),
    ("names", "NameRow"),
    ("losses", "LossRow"),
    ("records", "RecordRow"),
    ("packets", "PacketRow"),
    ("segments", "SegmentRow"),
    ("log_segments", "LogSegmentRow"),
    ("log_batches", "LogBatchRow"),
    ("log_records", "LogRecordRow"),
    ("log_problems", "LogProblemRow"),
    ("stored_records", "StoredRecordRow"),
    ("committed_offsets", "CommittedOffsetRow"),
];

fn main() {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is"));
    let source = folder.join("tables.json");
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rerun-if-changed=build.rs");
    let text = fs::read_to_string(&source).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    let document: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    let mut made = String::new();
    for (name, row) in FILLED {
        let columns = document[name]["columns"]
            .as_array()
            .unwrap_or_else(|| panic!("tables.json has no table {name}"));
        assert!(columns.len() <= 64, "{name}: a set of columns is 64 bits");
        writeln!(made, "table! {{ {row}").expect("a string takes all");
        for (place, column) in columns.iter().enumerate() {
            let (column, kind, required) = column_of(column).unwrap_or_else(|| panic!("{name}: column {place}"));
            // A word of Rust, which the row calls otherwise.
            let field = if column == "type" { "kind" } else { column };
            writeln!(made, "    {place} {column:?} {field} {kind} {required}").expect("a string takes all");
        }
        writeln!(made, "}}").expect("a string takes all");
    }
    let target = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to write")).join("tables.rs");
    fs::write(&target, made).unwrap_or_else(|error| panic!("{}: {error}", target.display()));
}

/// Name, variant of `Kind`, and whether every row has a value.
fn column_of(column: &Value) -> Option<(&str, &'static str, bool)> {
    let kind = match column["kind"].as_str()? {
        "bool" => "Bool",
        "int16" => "Int16",
        "int32" => "Int32",
        "int64" => "Int64",
        "float64" => "Float64",
        "string" => "String",
        "strings" => "Strings",
        "time" => "Time",
        _ => return None,
    };
    Some((column["name"].as_str()?, kind, column["required"].as_bool()?))
}
