//! What a consumer hides in the bytes of JoinGroup and SyncGroup: its subscription and its assignment.
//!
//! Source: ConsumerProtocolSubscription.json, ConsumerProtocolAssignment.json (versions 0-3; newer ones begin alike).
//! Other clients of the group protocol (Connect, schema registries) put other things there, so what is not plainly a
//! consumer's gives nothing. A message that the capture cut gives what is there.

use compact_str::CompactString;

use crate::facts::Topic;

const NEWEST: i16 = 10;
const LONGEST_TOPIC: usize = 249;

/// Partitions by topic.
pub type Owned = Vec<(Topic, i32)>;

/// Why the rest is not read.
enum Stop {
    /// The bytes are something else.
    NotThis,
    /// The capture has no more of them.
    Cut,
}

/// Topics and owned partitions of a ConsumerProtocolSubscription of `size` bytes, of which `data` is there.
///
/// Some clients write a version and not all that belongs to it: the topics count by themselves.
pub fn subscription(data: &[u8], size: usize) -> Option<(Vec<CompactString>, Owned)> {
    let mut reader = Reader::new(data, size);
    let (mut topics, mut owned) = (Vec::new(), Owned::new());
    match reader.topics(&mut topics) {
        Ok(version) if version >= 1 => {
            // What cannot be read of these does not make the topics wrong.
            let _ = reader.over_bytes().and_then(|()| reader.partitions(&mut owned));
        }
        Ok(_) | Err(Stop::Cut) => {}
        Err(Stop::NotThis) => return None,
    }
    Some((topics, owned))
}

/// The partitions of a ConsumerProtocolAssignment of `size` bytes, of which `data` is there; no bytes are an empty one.
pub fn assignment(data: &[u8], size: usize) -> Option<Owned> {
    let mut owned = Owned::new();
    if size == 0 {
        return Some(owned);
    }
    let mut reader = Reader::new(data, size);
    match reader.assigned(&mut owned) {
        Ok(()) | Err(Stop::Cut) => Some(owned),
        Err(Stop::NotThis) => None,
    }
}

struct Reader<'a> {
    /// Never more than `size` bytes.
    data: &'a [u8],
    size: usize,
    /// Up to `size`, so that it may be behind what is there.
    at: usize,
}

impl<'a> Reader<'a> {
    fn new(data: &'a [u8], size: usize) -> Reader<'a> {
        Reader {
            data: data.get(..size).unwrap_or(data),
            size,
            at: 0,
        }
    }

    /// Why bytes that should follow are not there.
    fn missing(&self) -> Stop {
        if self.data.len() == self.size {
            Stop::NotThis
        } else {
            Stop::Cut
        }
    }

    fn left(&self) -> usize {
        self.size.saturating_sub(self.at)
    }

    fn take<const SIZE: usize>(&mut self) -> Result<[u8; SIZE], Stop> {
        let bytes = self
            .data
            .get(self.at..)
            .and_then(|rest| rest.first_chunk())
            .ok_or_else(|| self.missing())?;
        self.at += SIZE;
        Ok(*bytes)
    }

    fn int32(&mut self) -> Result<i32, Stop> {
        self.take().map(i32::from_be_bytes)
    }

    /// The number of elements that take at least `least` bytes each.
    fn count(&mut self, least: usize) -> Result<usize, Stop> {
        let count = usize::try_from(self.int32()?).map_err(|_| Stop::NotThis)?;
        if count > self.left() / least {
            Err(Stop::NotThis)
        } else {
            Ok(count)
        }
    }

    /// The version; behind it is a number of elements, which are looked at later.
    fn version(&mut self) -> Result<i16, Stop> {
        let [high, low, ..] = self.take::<6>()?;
        self.at -= 4;
        let version = i16::from_be_bytes([high, low]);
        if (0..=NEWEST).contains(&version) {
            Ok(version)
        } else {
            Err(Stop::NotThis)
        }
    }

    fn topics(&mut self, out: &mut Vec<CompactString>) -> Result<i16, Stop> {
        let version = self.version()?;
        for _ in 0..self.count(2)? {
            out.push(self.topic()?);
        }
        Ok(version)
    }

    fn topic(&mut self) -> Result<CompactString, Stop> {
        let length = usize::try_from(i16::from_be_bytes(self.take()?)).map_err(|_| Stop::NotThis)?;
        if length == 0 || length > LONGEST_TOPIC || length > self.left() {
            return Err(Stop::NotThis);
        }
        let text = self.data.get(self.at..self.at + length).ok_or(Stop::Cut)?;
        self.at += length;
        match std::str::from_utf8(text) {
            Ok(text) if text.is_ascii() => Ok(CompactString::new(text)),
            _ => Err(Stop::NotThis),
        }
    }

    /// Steps over nullable bytes.
    fn over_bytes(&mut self) -> Result<(), Stop> {
        let length = usize::try_from(self.int32()?).unwrap_or(0);
        if length > self.left() {
            return Err(Stop::NotThis);
        }
        self.at += length;
        Ok(())
    }

    /// An array of topics with their partitions.
    fn partitions(&mut self, out: &mut Owned) -> Result<(), Stop> {
        for _ in 0..self.count(6)? {
            let topic = Topic::Name(self.topic()?);
            for _ in 0..self.count(4)? {
                let partition = self.int32().map_err(|_| Stop::Cut)?;
                out.push((topic.clone(), partition));
            }
        }
        Ok(())
    }

    fn assigned(&mut self, out: &mut Owned) -> Result<(), Stop> {
        self.version()?;
        // The number of topics is held against the least that a subscription takes first, then against that of this.
        let at = self.at;
        self.count(2)?;
        self.at = at;
        self.partitions(out)?;
        self.over_bytes()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn string(text: &str) -> Vec<u8> {
        [&(text.len() as i16).to_be_bytes()[..], text.as_bytes()].concat()
    }

    fn written(version: i16) -> Vec<u8> {
        let mut out = version.to_be_bytes().to_vec();
        out.extend(2i32.to_be_bytes());
        out.extend([string("orders"), string("payments")].concat());
        out.extend(8i32.to_be_bytes());
        out.extend(b"anything");
        if version > 0 {
            out.extend(2i32.to_be_bytes());
            out.extend(string("orders"));
            out.extend([0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3]);
            out.extend(string("payments"));
            out.extend(0i32.to_be_bytes());
        }
        out
    }

    fn orders(partitions: &[i32]) -> Owned {
        partitions
            .iter()
            .map(|&partition| (Topic::Name("orders".into()), partition))
            .collect()
    }

    fn names() -> Vec<CompactString> {
        vec!["orders".into(), "payments".into()]
    }

    #[test]
    fn a_subscription() {
        for (version, owned) in [(0, orders(&[])), (1, orders(&[0, 3])), (3, orders(&[0, 3]))] {
            let data = written(version);
            assert_eq!(subscription(&data, data.len()), Some((names(), owned)));
        }
    }

    #[test]
    fn an_assignment() {
        let mut data = vec![0, 1, 0, 0, 0, 1];
        data.extend(string("orders"));
        data.extend([0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 255, 255, 255, 255]);
        assert_eq!(assignment(&data, data.len()), Some(orders(&[1, 2])));
        assert_eq!(assignment(&data[..data.len() - 8], data.len()), Some(orders(&[1])));
        assert_eq!(assignment(b"", 0), Some(vec![]));
    }

    #[test]
    fn a_cut_one_gives_what_is_there() {
        let data = written(1);
        for kept in 0..data.len() {
            let (topics, owned) = subscription(&data[..kept], data.len()).unwrap();
            assert_eq!(topics, names()[..topics.len()]);
            assert_eq!(owned, orders(&[0, 3])[..owned.len()]);
        }
    }

    #[test]
    fn a_version_without_what_belongs_to_it_still_names_its_topics() {
        let mut data = written(0);
        data[1] = 1;
        assert_eq!(subscription(&data, data.len()), Some((names(), vec![])));
    }

    #[test]
    fn what_no_consumer_wrote() {
        let strange: [&[u8]; 5] = [
            b"\x00\x01",
            b"\x00\x01\x00\x15http://registry:8081/\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
            b"{\"version\":1}",
            b"\x00\x00\x00\x00\x00\x01\x00\x02\xc3\xa4\xff\xff\xff\xff",
            b"\x00\x00\x7f\xff\xff\xff\x00\x01a",
        ];
        for data in strange {
            assert_eq!(subscription(data, data.len()), None);
            assert_eq!(assignment(data, data.len()), None);
        }
        assert_eq!(subscription(b"", 0), None);
    }

    proptest! {
        #[test]
        fn any_bytes_give_an_answer(
            version in 0..4i16,
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..5),
            kept in any::<prop::sample::Index>(),
            size in 0..150usize,
        ) {
            let mut data = written(version);
            for (index, value) in damage {
                let at = index.index(data.len());
                data[at] = value;
            }
            let kept = kept.index(data.len());
            subscription(&data[..kept], size);
            assignment(&data[..kept], size);
        }
    }
}
