//! Logs of brokers, with the indexes beside them: nothing is told of a batch whose checksum does not hold, and what is
//! told of batches does not depend on whether records are told, too.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{env, fs, process};

use netdiag_wire::options::Table;
use netdiag_wire::rows::{Batch, Shape, Unit, Values};
use netdiag_wire::storage::{LogFile, LogReader, Showing};

use crate::Script;

/// Offset and length, which the length does not count; where a checksum stands, and what it is of.
const BEFORE_LENGTH: usize = 12;
const CHECKSUM: usize = 17;
const CHECKED: usize = 21;
/// What file the bytes are.
const ENDINGS: [&str; 4] = ["log", "log", "checkpoint", "snapshot"];
const INDEXES: [&str; 3] = ["index", "timeindex", "txnindex"];

/// An input: which file, whether checksums are made to hold, how much of it each index is, the indexes, and the file.
pub fn check(input: &[u8]) {
    let mut script = Script::new(input);
    let ending = script.pick(&ENDINGS);
    let is_sealed = !script.byte().is_multiple_of(4);
    let base_offset = i64::from(script.byte());
    let sizes = INDEXES.map(|_| usize::from(script.byte()));
    let indexes = sizes.map(|size| script.take(size));
    let mut data = script.rest().to_vec();
    if is_sealed {
        seal(&mut data);
    }
    let folder = folder();
    let file = folder.join(format!("{base_offset:020}.{ending}"));
    fs::write(&file, &data).expect("there is room");
    for (name, bytes) in INDEXES.iter().zip(indexes) {
        fs::write(file.with_extension(name), bytes).expect("there is room");
    }
    let asked = LogFile {
        path: file.clone(),
        name: format!("t-0/{base_offset:020}.{ending}"),
        topic: Some("t".to_owned()),
        partition: Some(0),
        base_offset: (ending == "log").then_some(base_offset),
    };
    let tables = [Table::LogSegments, Table::LogBatches, Table::LogProblems];
    let few = read(&asked, &tables, false);
    let all = read(&asked, &[tables[0], tables[1], tables[2], Table::LogRecords], true);
    for table in tables {
        let told = |batches: &[Batch]| -> Vec<u8> { of(batches, table).flat_map(Batch::to_csv).collect() };
        assert!(told(&few) == told(&all), "{table:?} depends on what else is asked for");
    }
    let whole = places(&all, data.len());
    for batch in of(&all, Table::LogRecords) {
        for position in ints(batch, "position") {
            assert!(
                whole.contains(position),
                "a record of a batch at {position}, which is none"
            );
        }
    }
    clear(&folder);
}

/// Where batches are whose checksum holds; all of them lie in the file, one behind the other.
fn places(batches: &[Batch], size: usize) -> HashSet<i64> {
    let mut whole = HashSet::new();
    let mut end = 0;
    for batch in of(batches, Table::LogBatches) {
        let views = batch.views();
        let valid = views.iter().find(|view| view.column.name == "checksum_valid");
        let Some(Values::Bool(valid)) = valid.map(|view| &view.values) else {
            unreachable!("it is a column of the table");
        };
        for (row, (&position, &bytes)) in ints(batch, "position").iter().zip(ints(batch, "bytes")).enumerate() {
            assert!(position >= end && bytes > 0, "batches overlap");
            end = position + bytes;
            if valid.value(row) {
                whole.insert(position);
            }
        }
    }
    assert!(end <= size as i64, "a batch ends behind the file");
    whole
}

fn read(file: &LogFile, tables: &[Table], payloads: bool) -> Vec<Batch> {
    let shapes: Vec<Shape> = tables
        .iter()
        .map(|&table| Shape::all(table, Unit::Nanoseconds))
        .collect();
    let showing = Showing { payloads, most: 100 };
    let mut reader = LogReader::new(vec![file.clone()], &shapes, showing);
    std::iter::from_fn(|| reader.turn()).flatten().collect()
}

fn of(batches: &[Batch], table: Table) -> impl Iterator<Item = &Batch> {
    batches.iter().filter(move |batch| batch.shape().table == table)
}

fn ints<'a>(batch: &'a Batch, name: &str) -> &'a [i64] {
    let views = batch.views();
    match views
        .into_iter()
        .find(|view| view.column.name == name)
        .map(|view| view.values)
    {
        Some(Values::Int64(cells)) => cells,
        _ => unreachable!("it is a column of whole numbers"),
    }
}

/// Makes the checksums of batches of magic 2 hold, as far as their lengths lead.
fn seal(data: &mut [u8]) {
    let mut at = 0;
    while let Some(head) = data.get(at..at + CHECKED) {
        let length = i32::from_be_bytes([head[8], head[9], head[10], head[11]]);
        let Some(end) = usize::try_from(length).ok().map(|length| at + BEFORE_LENGTH + length) else {
            return;
        };
        if head[16] != 2 || end < at + CHECKED || end > data.len() {
            return;
        }
        let checksum = crc32c::crc32c(&data[at + CHECKED..end]).to_be_bytes();
        data[at + CHECKSUM..at + CHECKED].copy_from_slice(&checksum);
        at = end;
    }
}

/// A folder of this process, in memory where there is such a place.
fn folder() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let made = FOLDER.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() {
            memory.to_owned()
        } else {
            env::temp_dir()
        };
        base.join(format!("netdiag-fuzz-{}", process::id()))
    });
    fs::create_dir_all(made).expect("there is a place for files");
    made.clone()
}

/// Whoever runs many inputs has no end at which to tidy up.
fn clear(folder: &Path) {
    fs::remove_dir_all(folder).expect("it is there");
}
