//! Files that lie in memory, so that their bytes need not be copied before they are read.
//!
//! Whoever shortens a file that is mapped ends the process that looks at what was there (SIGBUS), and whoever writes to it
//! changes bytes under its eyes. So only a file that nobody has written to for a while is mapped, and before a window of it
//! is looked at, the file must still be as long as it was. What remains is a file that lay still, is shortened, and is
//! looked at within the same few milliseconds.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::time::Duration;

use memmap2::Mmap;

/// A smaller file is read as fast.
const LEAST: u64 = 4 << 20;
/// A file that was written to since is read: it may be one that somebody is about to make anew.
const STILL: Duration = Duration::from_secs(10);

/// A file that lies in memory as a whole.
#[derive(Debug)]
pub struct Mapping {
    map: Mmap,
    file: File,
}

impl Mapping {
    /// Of a regular file; gives it back where it is better read.
    pub fn of(file: File) -> Result<Mapping, File> {
        let is_still = file.metadata().is_ok_and(|status| {
            let age = status.modified().ok().and_then(|time| time.elapsed().ok());
            status.is_file() && status.len() >= LEAST && age.is_some_and(|age| age >= STILL)
        });
        if !is_still {
            return Err(file);
        }
        // SAFETY: the map is read-only, and what its bytes are at any time is all that is asked of them: nobody relies
        // on reading the same twice. For a file that is shortened see above.
        #[allow(unsafe_code)]
        match unsafe { Mmap::map(&file) } {
            Ok(map) => {
                #[cfg(unix)]
                let _ = map.advise(memmap2::Advice::Sequential);
                Ok(Mapping { map, file })
            }
            Err(_) => Err(file),
        }
    }

    /// The whole file, as long as it was at first.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Makes bytes ready to be looked at; fails where they are there no more.
    pub fn prepare(&self, range: Range<usize>) -> io::Result<()> {
        if self.file.metadata()?.len() < self.map.len() as u64 {
            return Err(io::Error::other("was cut short while it was read"));
        }
        // Faster than a page at a time; a system that does not know it does that.
        #[cfg(target_os = "linux")]
        let _ = self
            .map
            .advise_range(memmap2::Advice::PopulateRead, range.start, range.len());
        #[cfg(not(target_os = "linux"))]
        let _ = range;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::PathBuf;
    use std::time::SystemTime;

    use super::*;

    fn file(name: &str, size: u64, age: Duration) -> (PathBuf, File) {
        let path = std::env::temp_dir().join(format!("netdiag-mapping-{name}-{}", std::process::id()));
        let mut file = File::create(&path).unwrap();
        file.write_all(&vec![7; size as usize]).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
        (path.clone(), File::open(path).unwrap())
    }

    #[test]
    fn a_file_that_lies_still_is_mapped() {
        let (path, opened) = file("still", LEAST, STILL);
        let mapping = Mapping::of(opened).unwrap();
        mapping.prepare(0..LEAST as usize).unwrap();
        assert!(mapping.bytes().iter().all(|byte| *byte == 7));
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(LEAST - 1)
            .unwrap();
        assert!(mapping.prepare(0..1).is_err());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_small_file_and_one_that_is_written_to_are_not() {
        for (name, size, age) in [("small", LEAST - 1, STILL), ("young", LEAST, Duration::ZERO)] {
            let (path, opened) = file(name, size, age);
            assert!(Mapping::of(opened).is_err());
            std::fs::remove_file(path).unwrap();
        }
    }
}
