//! Saved states: reading that stops, is saved and goes on gives the same rows, and a state that somebody changed is
//! refused or does no harm.

use std::fs;
use std::path::{Path, PathBuf};

use netdiag_wire::capture::{BEGIN, CaptureReader, Chunk, Found, Identity, Pool, Shared, Window};
use netdiag_wire::engine::{Allowed, Engine, Follower};
use netdiag_wire::options::{Options, Table};
use netdiag_wire::rows::{Batch, Rows, Shape, Unit};
use netdiag_wire::state;

use crate::Script;

const TABLES: usize = 9;
const MOST_EDITS: u8 = 12;

/// An input: where reading stops, what is changed of the state, and a capture.
pub fn check(input: &[u8]) {
    let mut script = Script::new(input);
    let how = script.byte();
    let step = usize::from(script.short()).max(16);
    let edits: Vec<Edit> = (0..script.byte() % MOST_EDITS).map(|_| Edit::of(&mut script)).collect();
    let options = Options {
        max_connections: if how & 2 != 0 { 2 } else { 1000 },
        all_sightings: how & 4 != 0,
        flow_class: if how & 8 != 0 { (u32::from(how & 1), 2) } else { (0, 1) },
        ..Options::default()
    };
    let file = script.rest();
    if how & 16 != 0 {
        follow(&options, file, step, &edits);
    } else if edits.is_empty() {
        let whole = rows_of(&options, file, step, |engine, reader| Some((engine, reader)));
        let broken = rows_of(&options, file, step, |engine, reader| {
            Some(gone_on(&options, engine, reader))
        });
        assert!(whole == broken, "rows differ where reading was broken off");
    } else {
        rows_of(&options, file, step, |engine, reader| {
            let changed = changed(&engine.save([0]), &edits);
            let engine = Engine::restored(&options, &changed).ok()?;
            // A state that was taken can be saved again.
            Engine::restored(&options, &engine.save([0])).expect("what was saved is read");
            Some((engine, reader))
        });
    }
}

/// A change of a state.
#[derive(Clone, Copy, Debug)]
struct Edit {
    place: u16,
    how: u8,
    value: u8,
}

impl Edit {
    fn of(script: &mut Script<'_>) -> Edit {
        Edit {
            place: script.short(),
            how: script.byte(),
            value: script.byte(),
        }
    }

    fn apply(self, content: &mut Vec<u8>) {
        let place = usize::from(self.place) % (content.len() + 1);
        match self.how % 6 {
            0 | 1 => content[place..].iter_mut().take(1).for_each(|byte| *byte = self.value),
            2 => content[place..]
                .iter_mut()
                .take(1)
                .for_each(|byte| *byte = byte.wrapping_add(self.value)),
            3 => content.insert(place, self.value),
            4 => {
                let end = (place + usize::from(self.value)).min(content.len());
                content.drain(place..end);
            }
            _ => {
                // The largest of numbers.
                let end = (place + 1).min(content.len());
                let number = [[0xff; 9].as_slice(), &[1]].concat();
                content.splice(place..end, number);
            }
        }
    }
}

/// A state with these changes, and a checksum that holds.
fn changed(saved: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut content = state::content(saved).expect("it was saved").to_vec();
    edits.iter().for_each(|edit| edit.apply(&mut content));
    state::sealed(&content)
}

/// Both, saved and taken up again.
fn gone_on(options: &Options, engine: Engine, reader: CaptureReader) -> (Engine, CaptureReader) {
    let engine = Engine::restored(options, &engine.save([0])).expect("what was saved is read");
    let shared = Shared {
        interfaces: engine.interfaces().clone(),
        pool: Pool::default(),
    };
    let reader = CaptureReader::restored(reader.state(), shared).expect("what was saved is read");
    (engine, reader)
}

/// All rows of a capture that is read in steps, with a break behind each: what goes on then, if anything.
fn rows_of(
    options: &Options,
    file: &[u8],
    step: usize,
    mut in_a_break: impl FnMut(Engine, CaptureReader) -> Option<(Engine, CaptureReader)>,
) -> Option<Vec<Vec<u8>>> {
    let shared = Shared::default();
    let mut engine = Engine::new(options, shared.interfaces.clone());
    let mut reader = CaptureReader::new(engine.add_file("file".into()), Window::default(), shared);
    let mut rows = Rows::new(&shapes());
    let mut told = vec![Vec::new(); TABLES];
    let feed = |engine: &mut Engine, chunk: Option<Chunk>, rows: &mut Rows| {
        if let Some(chunk) = chunk {
            engine.feed(&chunk, rows);
        }
    };
    for piece in file.chunks(step) {
        let Ok(chunk) = reader.feed(piece) else {
            break;
        };
        feed(&mut engine, chunk, &mut rows);
        engine.drained();
        tell(rows.drain(), &mut told);
        (engine, reader) = in_a_break(engine, reader)?;
    }
    if let Ok(chunk) = reader.finish() {
        feed(&mut engine, chunk, &mut rows);
    }
    for loss in &reader.account().losses {
        engine.lose(0, loss, None);
    }
    engine.dropped(0, reader.account().dropped);
    engine.end_file(0, &mut rows);
    engine.finish(&mut rows);
    tell(rows.drain(), &mut told);
    Some(told)
}

/// A file that grows, with a break behind each step.
fn follow(options: &Options, file: &[u8], step: usize, edits: &[Edit]) {
    let place = Place::new(file);
    let shapes = shapes();
    let read = |is_broken: bool| -> Option<Vec<Vec<u8>>> {
        let mut follower = Follower::new(options, &shapes);
        let mut told = vec![Vec::new(); TABLES];
        let mut size = 0;
        while size < file.len() {
            size = (size + step).min(file.len());
            follower.allow(place.allowed(file, size));
            loop {
                let (batches, is_all) = follower.turn(None);
                tell(batches, &mut told);
                if is_all {
                    break;
                }
            }
            if is_broken {
                follower.close();
                let saved = follower.save();
                let saved = if edits.is_empty() {
                    saved
                } else {
                    changed(&saved, edits)
                };
                follower = match Follower::restored(options, &shapes, &saved) {
                    Ok(follower) => follower,
                    Err(why) if edits.is_empty() => panic!("what was saved {why}"),
                    Err(_) => return None,
                };
            }
        }
        follower.end_files();
        while let (batches, false) = follower.turn(None) {
            tell(batches, &mut told);
        }
        tell(follower.finish(), &mut told);
        Some(told)
    };
    let broken = read(true);
    if edits.is_empty() {
        assert!(broken == read(false), "rows differ where reading was broken off");
    }
}

/// A file of this process.
struct Place(PathBuf);

impl Place {
    fn new(content: &[u8]) -> Place {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            memory.into()
        } else {
            std::env::temp_dir()
        };
        let thread = std::thread::current().id();
        let path = folder.join(format!("netdiag-fuzz-{}-{thread:?}", std::process::id()));
        fs::write(&path, content).expect("there is room for a file");
        Place(path)
    }

    fn allowed(&self, file: &[u8], size: usize) -> Allowed {
        use std::os::unix::fs::MetadataExt;
        let status = fs::metadata(&self.0).expect("it was written");
        Allowed {
            found: Found {
                number: 0,
                name: "file".into(),
                path: self.0.clone(),
                first_time: 0,
                late: 0,
                identity: Identity {
                    inode: status.ino(),
                    begin: file[..file.len().min(BEGIN)].to_vec(),
                },
            },
            size: size as u64,
            is_ended: size == file.len(),
            is_quiet: false,
            is_gone: false,
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn shapes() -> Vec<Shape> {
    let tables = Table::ALL.into_iter().take(TABLES);
    tables.map(|table| Shape::all(table, Unit::Nanoseconds)).collect()
}

fn tell(batches: Vec<Batch>, told: &mut [Vec<u8>]) {
    for batch in batches {
        told[batch.shape().table as usize].extend(batch.to_csv());
    }
}
