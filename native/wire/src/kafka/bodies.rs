//! From the bytes of a body to what it tells.

use std::sync::Arc;

use super::machine::{Coming, Exit, State, Tell};
use super::messages::PAIRS;
use super::program::{Program, Tells};
use super::table::{API_VERSIONS, FETCH, FIND_COORDINATOR, JOIN_GROUP, SHARE_FETCH, position};
use super::walker::BodyWalker;
use crate::facts::{Decoded, RequestFacts, ResponseFacts};
use crate::options::Wanted;

/// The error code of a version that a broker does not have.
const UNSUPPORTED_VERSION: i16 = 35;

/// A coordinator is looked for by the name of a group, or by a transactional id.
const OF_GROUP: i8 = 0;
const OF_TRANSACTION: i8 = 1;

/// Reads bodies for the tables that are wanted; what only others need is stepped over.
///
/// The program of a message is made when the first of its api key, version and direction is met, and kept.
#[derive(Debug)]
pub struct Bodies {
    tells: Tells,
    requests: Vec<Option<Arc<Program>>>,
    responses: Vec<Option<Arc<Program>>>,
}

impl Bodies {
    pub fn new(wanted: Wanted) -> Bodies {
        Bodies {
            tells: Tells::of(wanted),
            requests: vec![None; PAIRS],
            responses: vec![None; PAIRS],
        }
    }

    /// What a request body of `declared` bytes tells, of which `body` was kept.
    pub fn request_facts(&mut self, api_key: i16, api_version: i16, body: &[u8], declared: u64) -> RequestFacts {
        let mut facts = RequestFacts::default();
        let tells = self.tells;
        match self.program(api_key, api_version, true) {
            Some(program) => read(program, tells, &mut facts, body, declared),
            None => facts.both.decoded = Decoded::Header,
        }
        match api_key {
            FIND_COORDINATOR => {
                let first = facts.coordinator_keys.first().cloned();
                if api_version == 0 || facts.key_type == Some(OF_GROUP) {
                    facts.both.group = first;
                } else if facts.key_type == Some(OF_TRANSACTION) {
                    facts.both.transactional_id = first;
                }
            }
            JOIN_GROUP => {
                let group = facts.both.of_group.as_deref();
                facts.wait_ms = group.and_then(|group| match api_version {
                    0 => group.session_timeout_ms,
                    _ => group.rebalance_timeout_ms,
                });
            }
            FETCH if facts.replica_id.is_none() && facts.both.decoded == Decoded::Full => facts.replica_id = Some(-1),
            _ => {}
        }
        facts
    }

    /// What a response body of `declared` bytes tells, of which `body` was kept.
    pub fn response_facts(&mut self, api_key: i16, api_version: i16, body: &[u8], declared: u64) -> ResponseFacts {
        let mut facts = ResponseFacts::default();
        if api_key == API_VERSIONS && body.starts_with(&UNSUPPORTED_VERSION.to_be_bytes()) {
            // In version 0 (KIP-511), but for brokers that are none: what follows the error tells nothing here.
            facts.error_code = Some(UNSUPPORTED_VERSION);
            let is_cut = declared > body.len() as u64;
            facts.both.decoded = if is_cut { Decoded::Truncated } else { Decoded::Full };
            return facts;
        }
        let tells = self.tells;
        let Some(program) = self.program(api_key, api_version, false) else {
            facts.both.decoded = Decoded::Header;
            return facts;
        };
        read(program, tells, &mut facts, body, declared);
        if facts.both.decoded == Decoded::Full {
            facts.error_code = facts.error_code.or(Some(0));
            if matches!(api_key, FETCH | SHARE_FETCH) {
                facts.empty = Some(facts.both.record_bytes.unwrap_or(0) == 0);
            }
        }
        facts
    }

    /// A walker for a request of `size` bytes whose body begins behind `header` bytes, where such a one is walked.
    pub fn request_walker(&mut self, api_key: i16, api_version: i16, header: usize, size: u32) -> Option<BodyWalker> {
        let program = self.program(api_key, api_version, true)?.clone();
        BodyWalker::new(program, api_key, api_version, true, self.tells, header, size)
    }

    /// A walker for a response of `size` bytes whose body begins behind `header` bytes, where such a one is walked.
    pub fn response_walker(&mut self, api_key: i16, api_version: i16, header: usize, size: u32) -> Option<BodyWalker> {
        let program = self.program(api_key, api_version, false)?.clone();
        BodyWalker::new(program, api_key, api_version, false, self.tells, header, size)
    }

    fn program(&mut self, api_key: i16, api_version: i16, is_request: bool) -> Option<&Arc<Program>> {
        let programs = if is_request {
            &mut self.requests
        } else {
            &mut self.responses
        };
        let slot = programs.get_mut(position(api_key, api_version)?)?;
        if slot.is_none() {
            *slot = Program::of(api_key, api_version, is_request, self.tells).map(Arc::new);
        }
        slot.as_ref()
    }
}

fn read<F: Tell>(program: &Program, tells: Tells, facts: &mut F, body: &[u8], declared: u64) {
    let coming = if declared > body.len() as u64 {
        Coming::Cut
    } else {
        Coming::Whole
    };
    let mut state = State::new(coming, tells, declared.max(body.len() as u64));
    if program.has_records {
        let both = facts.both_mut();
        (both.records, both.record_bytes) = (Some(0), Some(0));
    }
    let (exit, _) = state.run(program, body, facts);
    if exit != Exit::Done {
        state.settle(exit, facts);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;
    use crate::facts::{Facts, PartitionFacts, Topic};
    use crate::kafka::records::tests::{batch, old_message};
    use crate::kafka::table::{Field, Kind, Layout, all, layout};
    use crate::options::Table;

    pub(in crate::kafka) fn of_all() -> Bodies {
        Bodies::new(Wanted::of(&Table::ALL))
    }

    /// Random values of a message: numbers that come from a seed, small counts, records that are batches.
    pub(in crate::kafka) struct Values(u64);

    impl Values {
        pub(in crate::kafka) fn body(api_key: i16, api_version: i16, is_request: bool, seed: u64) -> Vec<u8> {
            let mut values = Values(seed ^ (api_key as u64) << 32 ^ (api_version as u64) << 48 | 1);
            let mut out = Vec::new();
            values.structure(layout(api_key, api_version, is_request).unwrap(), &mut out);
            out
        }

        fn next(&mut self, below: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 20) % below
        }

        fn structure(&mut self, layout: &Layout, out: &mut Vec<u8>) {
            for field in &layout.fields {
                self.field(field, out);
            }
            if !layout.flexible {
                return;
            }
            let known: Vec<&Field> = layout.tagged.iter().filter(|_| self.next(2) == 0).collect();
            let unknown = self.next(4) == 0;
            varint(known.len() as u64 + u64::from(unknown), out);
            for field in known {
                let mut inside = Vec::new();
                self.field(field, &mut inside);
                varint(field.tag.unwrap().into(), out);
                varint(inside.len() as u64, out);
                out.extend(inside);
            }
            if unknown {
                out.extend(b"\x85\x01\x03abc");
            }
        }

        fn field(&mut self, field: &Field, out: &mut Vec<u8>) {
            if field.array {
                let count = self.next(4);
                length(field, count, true, out);
                for _ in 0..count {
                    self.element(field, out);
                }
            } else if field.kind == Kind::Struct && field.nullable {
                let is_null = self.next(3) == 0;
                out.push(if is_null { 0xff } else { 1 });
                if !is_null {
                    self.element(field, out);
                }
            } else if field.nullable && self.next(4) == 0 {
                match field {
                    Field { compact: true, .. } => out.push(0),
                    Field { kind: Kind::String, .. } => out.extend(b"\xff\xff"),
                    _ => out.extend(b"\xff\xff\xff\xff"),
                }
            } else {
                self.element(field, out);
            }
        }

        fn element(&mut self, field: &Field, out: &mut Vec<u8>) {
            let bytes = match field.kind {
                Kind::Struct => return self.structure(&field.inside, out),
                Kind::String => {
                    [&b""[..], b"a", b"orders", "ä語".as_bytes(), &[b'x'; 200]][self.next(5) as usize].to_vec()
                }
                Kind::Records => match self.next(5) {
                    0 => Vec::new(),
                    1 => batch(10, 0, 3, &[7; 300]),
                    2 => [
                        batch(10, 0, 3, b"some"),
                        batch(13, 32, 1, b""),
                        batch(14, 0, 2, b"more")[..40].to_vec(),
                    ]
                    .concat(),
                    3 => [old_message(1, 1, 0, b"v"), old_message(2, 1, 0, b"w")].concat(),
                    _ => vec![9; 100],
                },
                Kind::Bytes => vec![3; self.next(40) as usize],
                kind => {
                    let size = kind.size().unwrap();
                    let value = [0, 1, self.next(1 << 40), u64::MAX][self.next(4) as usize];
                    return out.extend(&[&[0; 8], &value.to_be_bytes()[..]].concat()[16 - size..]);
                }
            };
            length(field, bytes.len() as u64, false, out);
            out.extend(bytes);
        }
    }

    fn varint(value: u64, out: &mut Vec<u8>) {
        let mut value = value;
        while value > 0x7f {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
    }

    fn length(field: &Field, value: u64, of_array: bool, out: &mut Vec<u8>) {
        match field {
            Field { compact: true, .. } => varint(value + 1, out),
            Field { kind: Kind::String, .. } if !of_array => out.extend((value as u16).to_be_bytes()),
            _ => out.extend((value as u32).to_be_bytes()),
        }
    }

    /// What both directions tell.
    fn both(bodies: &mut Bodies, message: (i16, i16, bool), body: &[u8], declared: usize) -> Facts {
        match message {
            (key, version, true) => bodies.request_facts(key, version, body, declared as u64).both,
            (key, version, false) => bodies.response_facts(key, version, body, declared as u64).both,
        }
    }

    fn messages() -> impl Iterator<Item = (i16, i16, bool)> {
        all().flat_map(|(key, version)| [(key, version, true), (key, version, false)])
    }

    fn name(text: &str) -> Topic {
        Topic::Name(text.into())
    }

    #[test]
    fn a_produce_request() {
        let records = batch(10, 0, 3, b"some");
        let mut body =
            b"\x00\x01t\x00\x01\x00\x00\x75\x30\x00\x00\x00\x01\x00\x06orders\x00\x00\x00\x01\x00\x00\x00\x03".to_vec();
        body.extend((records.len() as u32).to_be_bytes());
        body.extend(&records);
        let found = of_all().request_facts(0, 3, &body, body.len() as u64);
        assert_eq!(found.both.decoded, Decoded::Full);
        assert_eq!(
            (found.acks, found.both.transactional_id.as_deref()),
            (Some(1), Some("t"))
        );
        assert_eq!(found.both.topics.to_vec(), [name("orders")]);
        assert_eq!(
            (found.both.records, found.both.record_bytes),
            (Some(3), Some(records.len() as i64))
        );
        let row = &found.both.partitions[0];
        assert_eq!(
            (&row.topic, row.partition, row.records),
            (&Some(name("orders")), 3, Some(3))
        );
        assert_eq!(
            (row.record_bytes, row.last_offset),
            (Some(records.len() as i64), Some(12))
        );
        assert_eq!(
            (found.both.batches.len(), found.both.pieces[0].kept.as_slice()),
            (1, records.as_slice())
        );
        // Behind the header of the last batch nothing is missing that is told.
        let cut = of_all().request_facts(0, 3, &body[..body.len() - 2], body.len() as u64);
        assert_eq!((cut.both.decoded, cut.both.records), (Decoded::Truncated, Some(3)));
        let cut = of_all().request_facts(0, 3, &body[..30], body.len() as u64);
        assert_eq!(
            (cut.both.decoded, cut.both.records, cut.acks),
            (Decoded::Truncated, None, Some(1))
        );
    }

    #[test]
    fn a_fetch_response() {
        let body = b"\0\0\0\x04\0\0\0\0\0\x07\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\x02\0\0\0\x01\0\x06\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\x02\x01\xff\xff\xff\xff\x01\0\0\0";
        let found = of_all().response_facts(1, 13, body, body.len() as u64);
        let id = Topic::Id(5u128.to_be_bytes());
        assert_eq!(
            (found.both.decoded, found.both.topics.to_vec()),
            (Decoded::Full, vec![id.clone()])
        );
        assert_eq!(
            (found.error_code, found.throttle_ms, found.both.session_id),
            (Some(6), Some(4), Some(7))
        );
        assert_eq!(
            (found.empty, found.both.records, found.both.record_bytes),
            (Some(true), Some(0), Some(0))
        );
        let row = PartitionFacts {
            topic: Some(id),
            partition: 1,
            error_code: Some(6),
            high_watermark: Some(9),
            last_stable_offset: Some(8),
            log_start_offset: Some(2),
            records: Some(0),
            record_bytes: Some(0),
            ..PartitionFacts::default()
        };
        assert_eq!(found.both.partitions.to_vec(), [row]);
        // Of a message that was cut, the row has what is there; of one that is wrong, it is left out.
        let cut = of_all().response_facts(1, 13, &body[..40], body.len() as u64);
        assert_eq!((cut.both.decoded, cut.empty), (Decoded::Truncated, None));
        assert_eq!(
            (cut.both.partitions[0].error_code, cut.both.partitions[0].high_watermark),
            (Some(6), None)
        );
        let wrong = of_all().response_facts(1, 13, &body[..40], 40);
        assert_eq!((wrong.both.decoded, wrong.both.partitions.len()), (Decoded::Failed, 0));
    }

    #[test]
    fn metadata_tells_leaders_and_topics_in_error() {
        let mut body =
            b"\0\0\0\0\0\0\0\x01\0\0\0\x07\0\x04host\0\0\x23\x84\xff\xff\0\x01c\0\0\0\x07\0\0\0\x02".to_vec();
        body.extend(b"\0\x05\0\x03bad\0\0\0\0\0");
        body.extend(b"\0\0\0\x04good\0\0\0\0\x01\0\0\0\0\0\x02\0\0\0\x07\0\0\0\x02\0\0\0\x07\0\0\0\x08\0\0\0\x01\0\0\0\x07\0\0\0\0");
        let found = of_all().response_facts(3, 6, &body, body.len() as u64);
        assert_eq!((found.both.decoded, found.error_code), (Decoded::Full, Some(5)));
        let cluster = found.cluster.unwrap();
        assert_eq!(
            (cluster.cluster_id.as_deref(), cluster.controller_id),
            (Some("c"), Some(7))
        );
        let broker = &found.endpoints[0];
        assert_eq!(
            (broker.node_id, broker.host.as_deref(), broker.port, &broker.rack),
            (7, Some("host"), 9092, &None)
        );
        let [bad, good] = found.leaders.as_slice() else {
            panic!("{:?}", found.leaders)
        };
        assert_eq!(
            (bad.topic.as_deref(), bad.partition, bad.error_code),
            (Some("bad"), None, Some(5))
        );
        assert_eq!(
            (good.topic.as_deref(), good.partition, good.leader_id),
            (Some("good"), Some(2), Some(7))
        );
        assert_eq!(
            (good.replicas, good.in_sync, good.error_code),
            (Some(2), Some(1), Some(0))
        );
    }

    #[test]
    fn how_long_a_join_may_wait() {
        let body = b"\0\x01g\0\0\x23\x28\0\0\xea\x60\0\0\0\0\0\0\0\0";
        assert_eq!(
            of_all().request_facts(11, 4, body, body.len() as u64).wait_ms,
            Some(60_000)
        );
        let body = b"\0\x01g\0\0\x23\x28\0\0\0\0\0\0\0\0";
        assert_eq!(
            of_all().request_facts(11, 0, body, body.len() as u64).wait_ms,
            Some(9_000)
        );
    }

    #[test]
    fn a_coordinator_is_looked_for_by_group_or_transaction() {
        for (body, group, transaction) in [
            (b"\0\x01k\0", Some("k"), None),
            (b"\0\x01k\x01", None, Some("k")),
            (b"\0\x01k\x02", None, None),
        ] {
            let found = of_all().request_facts(10, 1, body, 4);
            assert_eq!(
                (found.both.group.as_deref(), found.both.transactional_id.as_deref()),
                (group, transaction)
            );
            assert_eq!(found.coordinator_keys.to_vec(), ["k"]);
        }
    }

    #[test]
    fn what_is_said_twice() {
        // DescribeGroups: the first group counts. LeaveGroup: the first member that says why.
        let groups = of_all().request_facts(15, 0, b"\0\0\0\x02\0\x01a\0\x01b", 10);
        assert_eq!(groups.both.group.as_deref(), Some("a"));
        let leave = of_all().request_facts(13, 3, b"\0\x01g\0\0\0\x02\0\x01m\xff\xff\0\x01n\0\x01i", 20);
        let group = leave.both.of_group.unwrap();
        assert_eq!(
            (group.members.unwrap(), group.instance_id.as_deref()),
            (vec!["m".into(), "n".into()], Some("i"))
        );
    }

    #[test]
    fn nothing_of_groups_is_held_where_nothing_is_told() {
        let mut few = Bodies::new(Wanted::of(&[Table::Exchanges]));
        let heartbeat = b"\0\x01g\0\0\0\x05\0\x01m";
        assert!(few.request_facts(12, 0, heartbeat, 10).both.of_group.is_none());
        let all = of_all().request_facts(12, 0, heartbeat, 10).both.of_group.unwrap();
        assert_eq!((all.generation, all.member_id.as_deref()), (Some(5), Some("m")));
        let response = of_all().response_facts(12, 1, b"\0\0\0\0\0\x1b", 6);
        assert_eq!((response.error_code, response.both.of_group), (Some(27), None));
    }

    #[test]
    fn api_versions_with_error_35() {
        for (body, declared, decoded) in [
            (&b"\0\x23"[..], 2, Decoded::Full),
            (b"\0\x23\0\x12\0\0", 6, Decoded::Full),
            (b"\0\x23", 9, Decoded::Truncated),
        ] {
            let found = of_all().response_facts(18, 3, body, declared);
            assert_eq!((found.both.decoded, found.error_code), (decoded, Some(35)));
        }
    }

    #[test]
    fn what_is_not_known_or_not_a_body() {
        let mut bodies = of_all();
        assert_eq!(bodies.request_facts(900, 0, b"abc", 3).both.decoded, Decoded::Header);
        assert_eq!(bodies.response_facts(3, 99, b"abc", 3).both.decoded, Decoded::Header);
        assert_eq!(
            bodies.request_facts(0, 3, b"\0\x30abc", 5).both.decoded,
            Decoded::Failed
        );
        assert!(bodies.request_walker(3, 9, 10, 1 << 20).is_none());
        assert!(bodies.request_walker(0, 99, 10, 1 << 20).is_none());
        assert!(bodies.response_walker(1, 4, 4, 1 << 20).is_some());
    }

    #[test]
    fn random_messages_whole_and_cut() {
        let mut bodies = of_all();
        for message in messages() {
            for seed in 0..3 {
                let (key, version, is_request) = message;
                let body = Values::body(key, version, is_request, seed);
                let whole = both(&mut bodies, message, &body, body.len());
                assert_eq!(whole.decoded, Decoded::Full, "{message:?} {seed}");
                let more = [body.as_slice(), b"\0"].concat();
                assert_eq!(
                    both(&mut bodies, message, &more, more.len()),
                    whole,
                    "one byte more is tolerated"
                );
                for place in (0..body.len()).step_by(1 + body.len() / 40) {
                    let cut = both(&mut bodies, message, &body[..place], body.len());
                    let unread = key == 18 && !is_request && body.starts_with(b"\0\x23");
                    assert!(
                        cut.decoded == Decoded::Truncated || unread,
                        "{message:?} {seed} {place}"
                    );
                    assert!(whole.topics.starts_with(&cut.topics), "{message:?} {seed} {place}");
                    assert!(whole.names.starts_with(&cut.names));
                    for (row, known) in cut.partitions.iter().zip(&whole.partitions) {
                        assert_eq!(
                            (&row.topic, row.partition, &row.group),
                            (&known.topic, known.partition, &known.group)
                        );
                        assert!(row.error_code.is_none() || row.error_code == known.error_code);
                        assert!(row.offset.is_none() || row.offset == known.offset);
                        assert!(row.record_bytes.is_none() || row.record_bytes == known.record_bytes);
                    }
                    let short = both(&mut bodies, message, &body[..place], place);
                    assert!(short.decoded == Decoded::Failed || unread, "{message:?} {seed} {place}");
                }
            }
        }
    }

    #[test]
    fn for_fewer_tables_what_is_told_is_the_same() {
        let mut all = of_all();
        for tables in [
            &[Table::Exchanges][..],
            &[Table::Partitions],
            &[Table::Batches],
            &[Table::Leaders, Table::Records],
        ] {
            let mut few = Bodies::new(Wanted::of(tables));
            for message in messages() {
                let body = Values::body(message.0, message.1, message.2, 5);
                for kept in [body.len(), body.len() * 9 / 10, body.len() / 2] {
                    let some = both(&mut few, message, &body[..kept], body.len());
                    let whole = both(&mut all, message, &body[..kept], body.len());
                    assert_eq!(
                        (some.decoded, &some.topics, &some.names),
                        (whole.decoded, &whole.topics, &whole.names)
                    );
                    assert_eq!(
                        (some.records, some.record_bytes),
                        (whole.records, whole.record_bytes),
                        "{message:?}"
                    );
                    assert!(some.partitions.is_empty() || some.partitions == whole.partitions);
                    assert!(some.batches.is_empty() || some.batches == whole.batches);
                    assert!(some.pieces.is_empty() || some.pieces == whole.pieces);
                }
            }
        }
    }

    #[test]
    fn counts_that_lie_cost_no_time() {
        let begin = Instant::now();
        let mut bodies = of_all();
        for pattern in [&[0xff][..], &[0x7f], &[0], &[1], &[0, 0x7f], &[0, 0, 0, 1]] {
            let body: Vec<u8> = pattern.iter().copied().cycle().take(300).collect();
            for message in messages() {
                for declared in [300, 301, 1 << 30, usize::MAX] {
                    assert_ne!(both(&mut bodies, message, &body, declared).decoded, Decoded::Header);
                }
            }
        }
        assert!(begin.elapsed() < Duration::from_secs(20));
    }

    proptest! {
        #[test]
        fn damaged_messages_give_facts(
            at in 0..all().count(), is_request: bool, seed in 0..50u64,
            damage in prop::collection::vec((any::<u16>(), prop::sample::select(vec![0u8, 1, 127, 128, 255])), 1..8),
            kept in 0.0..1.0f64, more in prop::sample::select(vec![0usize, 0, 1, 1000, 1 << 40]),
        ) {
            let (key, version) = all().nth(at).unwrap();
            let mut body = Values::body(key, version, is_request, seed);
            for (place, byte) in damage {
                let place = usize::from(place) % body.len().max(1);
                body.get_mut(place).into_iter().for_each(|each| *each = byte);
            }
            body.truncate((body.len() as f64 * kept) as usize);
            let told = both(&mut of_all(), (key, version, is_request), &body, body.len() + more);
            prop_assert!(told.decoded != Decoded::Header);
            prop_assert!(told.topics.len() + told.partitions.len() + told.batches.len() <= 2 * body.len());
        }
    }
}
