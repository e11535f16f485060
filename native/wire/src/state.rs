//! What is saved so that reading can go on later: versioned, and held against a checksum.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a state begins with; the version counts whenever what follows changes.
const MAGIC: &[u8] = b"netdiag state 8\n";
/// What the states of all versions begin with.
const ANY: &[u8] = b"netdiag state ";
const SUM: usize = 4;

/// These bytes are not a state that this version can go on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsound {
    Foreign,
    OtherVersion,
    Damaged,
    Contradiction,
}

impl fmt::Display for Unsound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Unsound::Foreign => "is no state of netdiag",
            Unsound::OtherVersion => "was written by another version of netdiag",
            Unsound::Damaged => "is damaged",
            Unsound::Contradiction => "contradicts itself",
        })
    }
}

impl std::error::Error for Unsound {}

/// What `read` gives back.
pub fn write(value: &impl Serialize) -> Vec<u8> {
    let start = [MAGIC, &[0; SUM]].concat();
    // Memory is all that writing needs.
    let mut bytes = postcard::to_extend(value, start).expect("all of a state can be written");
    seal(&mut bytes);
    bytes
}

/// A state of this content, whatever it is.
pub fn sealed(content: &[u8]) -> Vec<u8> {
    let mut bytes = [MAGIC, &[0; SUM], content].concat();
    seal(&mut bytes);
    bytes
}

/// Puts the checksum of what stands behind it in its place.
fn seal(bytes: &mut [u8]) {
    let sum = crc32c::crc32c(&bytes[MAGIC.len() + SUM..]);
    bytes[MAGIC.len()..MAGIC.len() + SUM].copy_from_slice(&sum.to_le_bytes());
}

/// What was written.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unsound> {
    match postcard::take_from_bytes(content(bytes)?) {
        Ok((value, [])) => Ok(value),
        _ => Err(Unsound::Contradiction),
    }
}

/// What stands behind the checksum of a state.
pub fn content(bytes: &[u8]) -> Result<&[u8], Unsound> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        let is_ours = bytes.starts_with(ANY);
        return Err(if is_ours {
            Unsound::OtherVersion
        } else {
            Unsound::Foreign
        });
    };
    let (sum, content) = rest.split_first_chunk::<SUM>().ok_or(Unsound::Damaged)?;
    if crc32c::crc32c(content) != u32::from_le_bytes(*sum) {
        return Err(Unsound::Damaged);
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let value = vec![Some("a".to_owned()), None];
        let bytes = write(&value);
        assert_eq!(read::<Vec<Option<String>>>(&bytes), Ok(value));
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1;
            assert!(read::<Vec<Option<String>>>(&damaged).is_err(), "{place}");
            assert!(read::<Vec<Option<String>>>(&bytes[..place]).is_err(), "{place}");
        }
        let said = |bytes: &[u8]| read::<u8>(bytes).unwrap_err().to_string();
        assert_eq!(said(b"\x80\x05"), "is no state of netdiag");
        assert_eq!(
            said(b"netdiag state 1\nabc"),
            "was written by another version of netdiag"
        );
        assert_eq!(said(MAGIC), "is damaged");
        assert_eq!(said(&write(&(7u8, 8u8))), "contradicts itself");
    }
}
