//! Executes programs: over a body in one piece, over the beginning of one, or over one that passes by in pieces.
//!
//! Nothing is read that is not there, and nothing is allocated for a count or a length before it was held against the
//! bytes that the message has left. Whatever the bytes are, the outcome is facts, as far as they go.

use compact_str::CompactString;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use thin_vec::ThinVec;

use super::program::{Embedded, Length, Op, Opens, Program, Tells, Text, To, TopicStep};
use super::records::{Summariser, Summary, summarise};
use super::roles::RowKind;
use super::{MOST_ROWS, members};
use crate::facts::{
    Decoded, EndpointFacts, Facts, GroupFacts, LeaderFacts, PartitionFacts, Piece, RequestFacts, ResponseFacts, Topic,
};

/// A string that passes by is not longer: that of Kafka's older protocol, which brokers hold newer ones to as well.
const LONGEST_STRING: u64 = 32_767;

/// The resource type of a topic (ConfigResource.Type, ResourceType).
const TOPIC_RESOURCE: i64 = 2;

const NO_ID: [u8; 16] = [0; 16];

/// How a body comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Coming {
    /// All of it in one piece.
    Whole,
    /// Its beginning.
    Cut,
    /// In pieces.
    Passing,
}

/// Why the machine stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Done,
    /// These bytes cannot be the message.
    Wrong,
    /// So many bytes are needed at the place that was reached.
    More(usize),
    /// Bytes are to be stepped over, or belong to records: [`State::pass`] takes them.
    Passing,
}

/// A loop: how often it is still to be done, and of tagged fields where the one that is read ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Frame {
    left: u64,
    end: u64,
}

/// Records that pass by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Passing {
    summariser: Summariser,
    /// Less than another partition takes follows.
    is_last: bool,
}

/// All that the machine knows between two steps.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    coming: Coming,
    tells: Tells,
    step: usize,
    /// The bytes of the message before those that are read next.
    pub(super) position: u64,
    /// The bytes that the message has.
    pub(super) declared: u64,
    /// So many bytes are to be stepped over; where `skips_fields`, facts end if any are lost.
    skip: u64,
    skips_fields: bool,
    records: Option<Passing>,
    /// All records were seen, wherever the bytes end.
    is_counted: bool,
    frames: SmallVec<[Frame; 6]>,
    topic: Option<Topic>,
    topic_name: Option<CompactString>,
    topic_id: Option<[u8; 16]>,
    topic_error: i16,
    resource_type: i64,
    resource_name: Option<CompactString>,
    /// Of the rows that follow.
    group: Option<CompactString>,
    /// The row that is being filled if it is listed, and whether it counts.
    row: Option<RowKind>,
    row_counts: bool,
    partition: PartitionFacts,
    leader: LeaderFacts,
    endpoint: EndpointFacts,
}

/// What facts of a request and of a response have in common, and what only one of them has.
pub(super) trait Tell {
    fn both(&self) -> &Facts;
    fn both_mut(&mut self) -> &mut Facts;
    /// A number that the whole message has.
    fn number(&mut self, to: To, value: i64);
    /// Where a text of the whole message goes.
    fn text(&mut self, to: Text) -> Option<&mut Option<CompactString>>;
    fn error_code(&mut self, _value: i16) {}
    fn coordinator_key(&mut self, _value: CompactString) {}
    fn forgotten(&mut self, _topic: Option<Topic>, _partition: i32) {}
    fn leaders(&mut self) -> Option<&mut ThinVec<LeaderFacts>> {
        None
    }
    fn endpoints(&mut self) -> Option<&mut ThinVec<EndpointFacts>> {
        None
    }
    fn list(&mut self, list: Opens) {
        match list {
            Opens::Nothing => {}
            Opens::Members => groups(self.both_mut()).members = Some(Vec::new()),
            Opens::Subscription => groups(self.both_mut()).subscription = Some(Vec::new()),
            Opens::Owned => groups(self.both_mut()).owned = Some(Vec::new()),
            Opens::Assignment => groups(self.both_mut()).assignment = Some(Vec::new()),
        }
    }
    /// The message has records, or no records, though not all of it was read; for responses.
    fn has_records(&mut self, _has: bool) {}
}

impl Tell for RequestFacts {
    fn both(&self) -> &Facts {
        &self.both
    }

    fn both_mut(&mut self) -> &mut Facts {
        &mut self.both
    }

    fn number(&mut self, to: To, value: i64) {
        match to {
            To::Acks => self.acks = Some(value as i16),
            To::WaitMs => self.wait_ms = Some(value as i32),
            To::ReplicaId => self.replica_id = Some(value as i32),
            To::SessionEpoch => self.session_epoch = Some(value as i32),
            To::KeyType => self.key_type = Some(value as i8),
            To::Committed => self.committed = Some(value != 0),
            _ => number_of_both(&mut self.both, to, value as i32),
        }
    }

    fn text(&mut self, to: Text) -> Option<&mut Option<CompactString>> {
        match to {
            Text::Mechanism => Some(&mut self.client.get_or_insert_default().sasl_mechanism),
            Text::SoftwareName => Some(&mut self.client.get_or_insert_default().software_name),
            Text::SoftwareVersion => Some(&mut self.client.get_or_insert_default().software_version),
            _ => text_of_both(&mut self.both, to),
        }
    }

    fn coordinator_key(&mut self, value: CompactString) {
        self.coordinator_keys.push(value);
    }

    fn forgotten(&mut self, topic: Option<Topic>, partition: i32) {
        self.forgotten.extend(topic.map(|topic| (topic, partition)));
    }
}

impl Tell for ResponseFacts {
    fn both(&self) -> &Facts {
        &self.both
    }

    fn both_mut(&mut self) -> &mut Facts {
        &mut self.both
    }

    fn number(&mut self, to: To, value: i64) {
        match to {
            To::Throttle => self.throttle_ms = Some(value as i32),
            To::ControllerId => self.cluster.get_or_insert_default().controller_id = Some(value as i32),
            _ => number_of_both(&mut self.both, to, value as i32),
        }
    }

    fn text(&mut self, to: Text) -> Option<&mut Option<CompactString>> {
        match to {
            Text::ClusterId => Some(&mut self.cluster.get_or_insert_default().cluster_id),
            _ => text_of_both(&mut self.both, to),
        }
    }

    fn error_code(&mut self, value: i16) {
        if self.error_code.is_none_or(|code| code == 0) {
            self.error_code = Some(value);
        }
    }

    fn leaders(&mut self) -> Option<&mut ThinVec<LeaderFacts>> {
        Some(&mut self.leaders)
    }

    fn endpoints(&mut self) -> Option<&mut ThinVec<EndpointFacts>> {
        Some(&mut self.endpoints)
    }

    fn has_records(&mut self, has: bool) {
        self.empty = if has { Some(false) } else { self.empty };
    }
}

fn groups(facts: &mut Facts) -> &mut GroupFacts {
    facts.of_group.get_or_insert_default()
}

fn number_of_both(facts: &mut Facts, to: To, value: i32) {
    match to {
        To::SessionId => facts.session_id = Some(value),
        To::Generation => groups(facts).generation = Some(value),
        To::SessionTimeout => groups(facts).session_timeout_ms = Some(value),
        To::RebalanceTimeout => groups(facts).rebalance_timeout_ms = Some(value),
        _ => {}
    }
}

fn text_of_both(facts: &mut Facts, to: Text) -> Option<&mut Option<CompactString>> {
    match to {
        Text::TransactionalId => Some(&mut facts.transactional_id),
        Text::Group => Some(&mut facts.group),
        Text::MemberId => Some(&mut groups(facts).member_id),
        Text::InstanceId => Some(&mut groups(facts).instance_id),
        Text::ProtocolType => Some(&mut groups(facts).protocol_type),
        Text::Protocol => Some(&mut groups(facts).protocol),
        Text::Reason => Some(&mut groups(facts).reason),
        Text::Leader => Some(&mut groups(facts).leader),
        _ => None,
    }
}

/// Whether a text is one of those that only the group protocols have.
fn is_of_group(to: Text) -> bool {
    matches!(
        to,
        Text::MemberId | Text::InstanceId | Text::ProtocolType | Text::Protocol | Text::Reason | Text::Leader
    )
}

impl State {
    /// At the beginning of a body of `declared` bytes.
    pub(super) fn new(coming: Coming, tells: Tells, declared: u64) -> State {
        State {
            coming,
            tells,
            step: 0,
            position: 0,
            declared,
            skip: 0,
            skips_fields: false,
            records: None,
            is_counted: false,
            frames: SmallVec::new(),
            topic: None,
            topic_name: None,
            topic_id: None,
            topic_error: 0,
            resource_type: 0,
            resource_name: None,
            group: None,
            row: None,
            row_counts: false,
            partition: PartitionFacts::default(),
            leader: LeaderFacts::default(),
            endpoint: EndpointFacts::default(),
        }
    }

    /// Reads on in `data`, which begins at `position`; tells why it ends and how many bytes it took.
    pub(super) fn run<F: Tell>(&mut self, program: &Program, data: &[u8], facts: &mut F) -> (Exit, usize) {
        let limit = usize::try_from(self.declared.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let mut step = self.step;
        // Behind the end of the data where something was stepped over that is not there: what is read next tells.
        let mut at = 0usize;
        macro_rules! read {
            ($number:ty) => {
                match data.get(at..).and_then(|rest| rest.first_chunk()) {
                    Some(bytes) => {
                        at += size_of::<$number>();
                        <$number>::from_be_bytes(*bytes)
                    }
                    None => break Exit::More(size_of::<$number>()),
                }
            };
        }
        // A length or a count, and where it ends.
        macro_rules! length {
            ($length:expr) => {
                match length_at(data, at, $length) {
                    Ok((length, behind)) if length >= -1 => (length, behind),
                    Ok(_) => break Exit::Wrong,
                    Err(exit) => break exit,
                }
            };
        }
        macro_rules! step_over {
            ($end:expr, $fields:expr) => {
                at = $end;
                if at > data.len() && self.coming == Coming::Passing {
                    if at > limit {
                        break Exit::Wrong;
                    }
                    self.skip = (at - data.len()) as u64;
                    self.skips_fields = $fields;
                    at = data.len();
                    step += 1;
                    break Exit::Passing;
                }
            };
        }
        let exit = loop {
            let Some(&op) = program.ops.get(step) else {
                break Exit::Wrong;
            };
            match op {
                Op::Run(size) => {
                    if data.len().saturating_sub(at) < size as usize && self.coming == Coming::Whole {
                        break Exit::Wrong;
                    }
                }
                Op::Skip(size) => {
                    step_over!(at.saturating_add(size as usize), true);
                }
                Op::Int8(to) => {
                    let value = read!(i8);
                    self.number(facts, to, value.into());
                }
                Op::Int16(to) => {
                    let value = read!(i16);
                    self.number(facts, to, value.into());
                }
                Op::Uint16(to) => {
                    let value = read!(u16);
                    self.number(facts, to, value.into());
                }
                Op::Int32(to) => {
                    let value = read!(i32);
                    self.number(facts, to, value.into());
                }
                Op::Int64(to) => {
                    let value = read!(i64);
                    self.number(facts, to, value);
                }
                Op::ErrorCode { row, of_topic } => {
                    let value = read!(i16);
                    facts.error_code(value);
                    match row {
                        Some(RowKind::Partition) => self.partition.error_code = Some(value),
                        Some(RowKind::Leader) => self.leader.error_code = Some(value),
                        Some(RowKind::Endpoint) | None => {}
                    }
                    if of_topic {
                        self.topic_error = value;
                    }
                }
                Op::TopicId(told) => {
                    let Some(id) = data.get(at..).and_then(|rest| rest.first_chunk()) else {
                        break Exit::More(16);
                    };
                    at += id.len();
                    self.told_id(facts, *id, told);
                }
                Op::Text {
                    length,
                    to,
                    first,
                    of_rows,
                } => {
                    let (size, behind) = length!(length);
                    let value = match usize::try_from(size) {
                        Ok(size) => {
                            let end = behind.saturating_add(size);
                            let Some(bytes) = data.get(behind..end) else {
                                let is_long = self.coming == Coming::Passing && size as u64 > LONGEST_STRING;
                                break if is_long || end > limit {
                                    Exit::Wrong
                                } else {
                                    Exit::More(end - at)
                                };
                            };
                            at = end;
                            Some(text_of(bytes))
                        }
                        Err(_) => {
                            at = behind;
                            None
                        }
                    };
                    if of_rows {
                        self.group = value.clone();
                    }
                    self.text(facts, to, value, first);
                }
                Op::SkipText(length) => {
                    let (size, behind) = length!(length);
                    let size = usize::try_from(size).unwrap_or(0);
                    if self.coming == Coming::Passing && size as u64 > LONGEST_STRING {
                        break Exit::Wrong;
                    }
                    step_over!(behind.saturating_add(size), true);
                }
                Op::SkipBytes(length) => {
                    let (size, behind) = length!(length);
                    step_over!(behind.saturating_add(usize::try_from(size).unwrap_or(0)), false);
                }
                Op::Embedded(length, embedded) => {
                    let (size, behind) = length!(length);
                    at = behind;
                    if let Ok(size) = usize::try_from(size) {
                        let end = behind.saturating_add(size);
                        let kept = data.get(behind..end.min(data.len())).unwrap_or_default();
                        of_consumer(facts.both_mut(), embedded, kept, size);
                        if end > data.len() {
                            break if end > limit {
                                Exit::Wrong
                            } else {
                                Exit::More(end - behind)
                            };
                        }
                        at = end;
                    }
                }
                Op::Records { length, least } => {
                    let (size, behind) = length!(length);
                    at = behind;
                    let size = u64::try_from(size).unwrap_or(0);
                    let end = behind.saturating_add(usize::try_from(size).unwrap_or(usize::MAX));
                    let is_passing = self.coming == Coming::Passing;
                    if is_passing && end > limit {
                        break Exit::Wrong;
                    }
                    self.partition.record_bytes = Some(size as i64);
                    let both = facts.both_mut();
                    both.record_bytes = both.record_bytes.map(|sum| sum.saturating_add(size as i64));
                    let is_last = limit.saturating_sub(end) < least as usize;
                    if size == 0 {
                        self.partition.records = Some(0);
                        self.is_counted |= is_passing && is_last;
                    } else if is_passing {
                        self.records = Some(Passing {
                            summariser: Summariser::new(size),
                            is_last,
                        });
                        step += 1;
                        break Exit::Passing;
                    } else {
                        let kept = data.get(behind..end.min(data.len())).unwrap_or_default();
                        self.records(both, kept, size);
                        self.is_counted |= is_last;
                        if end > data.len() {
                            break if end > limit {
                                Exit::Wrong
                            } else {
                                Exit::More(end - behind)
                            };
                        }
                        at = end;
                    }
                }
                Op::Present { behind } => {
                    if read!(i8) < 0 {
                        step = behind.into();
                        continue;
                    }
                }
                Op::Array {
                    length,
                    least,
                    behind,
                    opens,
                } => {
                    let (count, end) = length!(length);
                    if opens != Opens::Nothing && count >= 0 {
                        facts.list(opens);
                    }
                    at = end;
                    let count = u64::try_from(count).unwrap_or(0);
                    if count == 0 {
                        step = behind.into();
                        continue;
                    }
                    if count.saturating_mul(least.into()) > limit.saturating_sub(at) as u64 {
                        break Exit::Wrong;
                    }
                    self.frames.push(Frame { left: count, end: 0 });
                }
                Op::Next { start } => {
                    let Some(frame) = self.frames.last_mut() else {
                        break Exit::Wrong;
                    };
                    frame.left = frame.left.saturating_sub(1);
                    if frame.left > 0 {
                        step = start.into();
                        continue;
                    }
                    self.frames.pop();
                }
                Op::SkipArray {
                    length,
                    least,
                    structs,
                    count: to,
                } => {
                    let (count, behind) = match length_at(data, at, length) {
                        Ok(found) => found,
                        Err(exit) => break exit,
                    };
                    if let Some(to) = to {
                        self.number(facts, to, count);
                    }
                    if count < -1 {
                        break Exit::Wrong;
                    }
                    let size = u64::try_from(count).unwrap_or(0).saturating_mul(least.into());
                    if size > limit.saturating_sub(behind) as u64 {
                        break Exit::Wrong;
                    }
                    step_over!(
                        behind.saturating_add(usize::try_from(size).unwrap_or(usize::MAX)),
                        structs
                    );
                }
                Op::FirstInt64(length, to) => {
                    let (count, behind) = length!(length);
                    let size = u64::try_from(count).unwrap_or(0).saturating_mul(8);
                    if size > limit.saturating_sub(behind) as u64 {
                        break Exit::Wrong;
                    }
                    if size > 0 {
                        let Some(bytes) = data.get(behind..).and_then(|rest| rest.first_chunk()) else {
                            break Exit::More(behind.saturating_sub(at) + 8);
                        };
                        self.number(facts, to, i64::from_be_bytes(*bytes));
                    }
                    step_over!(
                        behind.saturating_add(usize::try_from(size).unwrap_or(usize::MAX)),
                        false
                    );
                }
                Op::Row { kind, listed } => self.begin_row(kind, listed),
                Op::EndRow { kind, listed } => {
                    if listed {
                        self.end_row(facts, kind);
                    }
                    self.row = None;
                    self.row_counts = false;
                }
                Op::Tags { behind } => {
                    let (count, end) = match data.get(at) {
                        Some(0) => (0, at + 1),
                        _ => match varint_at(data, at) {
                            Ok(found) => found,
                            Err(exit) => break exit,
                        },
                    };
                    at = end;
                    if count == 0 {
                        step = behind.into();
                        continue;
                    }
                    if count * 2 > limit.saturating_sub(at) as u64 {
                        break Exit::Wrong;
                    }
                    self.frames.push(Frame { left: count, end: 0 });
                }
                Op::Tag { first, cases } => {
                    let (tag, size, behind) = match tag_at(data, at) {
                        Ok(found) => found,
                        Err(exit) => break exit,
                    };
                    let end = behind.saturating_add(usize::try_from(size).unwrap_or(usize::MAX));
                    if end > limit {
                        break Exit::Wrong;
                    }
                    let Some(frame) = self.frames.last_mut() else {
                        break Exit::Wrong;
                    };
                    frame.end = self.position.saturating_add(end as u64);
                    let cases = program.cases.get(first.into()..usize::from(first) + usize::from(cases));
                    let case = cases
                        .unwrap_or_default()
                        .iter()
                        .find(|(each, _)| u64::from(*each) == tag);
                    if let Some((_, place)) = case {
                        at = behind;
                        step = usize::from(*place);
                        continue;
                    }
                    step_over!(end, false);
                }
                Op::EndTag { tag, behind } => {
                    let Some(frame) = self.frames.last_mut() else {
                        break Exit::Wrong;
                    };
                    if frame.end != self.position.saturating_add(at as u64) {
                        break Exit::Wrong;
                    }
                    frame.left = frame.left.saturating_sub(1);
                    if frame.left > 0 {
                        step = tag.into();
                        continue;
                    }
                    self.frames.pop();
                    step = behind.into();
                    continue;
                }
                Op::End => {
                    break match at {
                        at if at <= data.len() => Exit::Done,
                        at if at <= limit => Exit::More(0),
                        _ => Exit::Wrong,
                    };
                }
            }
            step += 1;
        };
        self.step = step;
        self.position = self.position.saturating_add(at as u64);
        (exit, at)
    }

    /// Whether bytes are to be stepped over, or belong to records.
    pub(super) fn is_passing(&self) -> bool {
        self.skip > 0 || self.records.is_some()
    }

    /// Takes bytes that are stepped over or belong to records, and tells how many; 0 where there are no such.
    pub(super) fn pass<F: Tell>(&mut self, piece: &[u8], facts: &mut F) -> usize {
        if self.skip > 0 {
            let taken = usize::try_from(self.skip).map_or(piece.len(), |skip| skip.min(piece.len()));
            self.skip -= taken as u64;
            self.position = self.position.saturating_add(taken as u64);
            return taken;
        }
        let Some(passing) = &mut self.records else { return 0 };
        let batches = self.tells.batches.then_some(&mut facts.both_mut().batches);
        let taken = passing
            .summariser
            .feed(piece, &self.partition.topic, self.partition.partition, batches);
        self.position = self.position.saturating_add(taken as u64);
        if passing.summariser.is_over() {
            self.end_records(facts);
        }
        taken
    }

    /// So many bytes are lost; tells how many of them do not matter, and nothing where facts end with them.
    pub(super) fn lose<F: Tell>(&mut self, count: u64, facts: &mut F) -> Option<u64> {
        if self.skip > 0 && !self.skips_fields {
            let taken = self.skip.min(count);
            self.skip -= taken;
            self.position = self.position.saturating_add(taken);
            return Some(taken);
        }
        let passing = self.records.as_mut().filter(|_| self.skip == 0)?;
        let taken = passing.summariser.lost(count);
        self.position = self.position.saturating_add(taken);
        if passing.summariser.is_over() {
            self.end_records(facts);
        }
        Some(taken)
    }

    /// The message is read to its end, or not any further.
    pub(super) fn settle<F: Tell>(&mut self, exit: Exit, facts: &mut F) {
        if exit == Exit::Done {
            return;
        }
        self.end_records(facts);
        // Of a message that is there as a whole, and wrong, the row is wrong in which that shows.
        let row = self
            .row
            .take()
            .filter(|_| self.row_counts && self.coming != Coming::Whole);
        if let Some(kind) = row {
            self.end_row(facts, kind);
        }
        let is_wrong = exit == Exit::Wrong || self.coming == Coming::Whole;
        let both = facts.both_mut();
        both.decoded = if is_wrong { Decoded::Failed } else { Decoded::Truncated };
        let has_records = both.record_bytes.is_some_and(|bytes| bytes > 0);
        if is_wrong || !self.is_counted {
            (both.records, both.record_bytes) = (None, None);
        }
        facts.has_records(has_records);
    }

    // Fields.

    fn number<F: Tell>(&mut self, facts: &mut F, to: To, value: i64) {
        let number = value as i32;
        match to {
            To::Partition => {
                self.partition.partition = number;
                self.row_counts = true;
            }
            To::Offset => self.partition.offset = Some(value),
            To::HighWatermark => self.partition.high_watermark = Some(value),
            To::LastStableOffset => self.partition.last_stable_offset = Some(value),
            To::LogStartOffset => self.partition.log_start_offset = Some(value),
            To::Timestamp => self.partition.timestamp = Some(value),
            To::LeaderId => self.partition.leader_id = Some(number),
            To::LeaderEpoch => self.partition.leader_epoch = Some(number),
            To::LedPartition => {
                self.leader.partition = Some(number);
                self.row_counts = true;
            }
            To::LedBy => self.leader.leader_id = Some(number),
            To::LedInEpoch => self.leader.leader_epoch = Some(number),
            To::Replicas => self.leader.replicas = Some(number),
            To::InSync => self.leader.in_sync = Some(number),
            To::NodeId => self.endpoint.node_id = number,
            To::Port => {
                self.endpoint.port = number;
                self.row_counts = true;
            }
            To::PartitionRow => {
                let row = PartitionFacts {
                    topic: self.topic.clone(),
                    partition: number,
                    group: self.group.clone(),
                    ..PartitionFacts::default()
                };
                facts.both_mut().partitions.push(row);
            }
            To::Forgotten => facts.forgotten(self.topic.clone(), number),
            To::Owned => pair(&mut groups(facts.both_mut()).owned, &self.topic, number),
            To::Assigned => pair(&mut groups(facts.both_mut()).assignment, &self.topic, number),
            To::ResourceType => self.resource_type = value,
            To::LastResourceType => {
                let name = self.resource_name.take().filter(|_| value == TOPIC_RESOURCE);
                self.told_topic(facts, name);
            }
            _ => facts.number(to, value),
        }
    }

    fn text<F: Tell>(&mut self, facts: &mut F, to: Text, value: Option<CompactString>, first: bool) {
        match to {
            Text::Nowhere => {}
            Text::Topic(told) => self.told_name(facts, value, told),
            Text::ResourceName => self.resource_name = value,
            Text::LastResourceName => {
                let name = value.filter(|_| self.resource_type == TOPIC_RESOURCE);
                self.told_topic(facts, name);
            }
            Text::Host => self.endpoint.host = value,
            Text::Rack => self.endpoint.rack = value,
            Text::CoordinatorKey => self.endpoint.coordinator_key = value,
            Text::CoordinatorKeys => {
                if let Some(value) = value {
                    facts.coordinator_key(value);
                }
            }
            Text::Members => groups(facts.both_mut()).members.get_or_insert_default().extend(value),
            Text::Subscription => {
                let both = facts.both_mut();
                both.topics.extend(value.clone().map(Topic::Name));
                groups(both).subscription.get_or_insert_default().extend(value);
            }
            Text::Topics => facts.both_mut().topics.extend(value.map(Topic::Name)),
            _ if value.is_none() && is_of_group(to) && facts.both().of_group.is_none() => {}
            _ => {
                if let Some(text) = facts.text(to).filter(|text| !first || text.is_none()) {
                    *text = value;
                }
            }
        }
    }

    // Topics.

    fn told_name<F: Tell>(&mut self, facts: &mut F, name: Option<CompactString>, told: TopicStep) {
        if !told.both {
            self.topic = name.clone().map(Topic::Name);
            if told.leaders {
                (self.topic_name, self.topic_id) = (name.clone(), None);
            }
            self.told_topic(facts, name);
        } else {
            self.topic_name = name.clone();
            self.told_topic(facts, name);
            if told.last {
                self.told_both(facts);
            }
        }
        self.told_error(facts, told);
    }

    fn told_id<F: Tell>(&mut self, facts: &mut F, id: [u8; 16], told: TopicStep) {
        self.topic_id = Some(id);
        if !told.both {
            self.topic_name = None;
            self.topic = Some(Topic::Id(id));
            if id != NO_ID {
                self.push_topic(facts, Topic::Id(id));
            }
        } else if told.last {
            self.told_both(facts);
        }
        self.told_error(facts, told);
    }

    /// Name and id are known: the pair of them, or the topic by its id where it has no name.
    fn told_both<F: Tell>(&mut self, facts: &mut F) {
        let id = self.topic_id.unwrap_or(NO_ID);
        let name = self.topic_name.clone().filter(|name| !name.is_empty());
        self.topic = Some(match &name {
            Some(name) => Topic::Name(name.clone()),
            None => Topic::Id(id),
        });
        if id != NO_ID {
            match name {
                Some(name) => facts.both_mut().names.push((id, name)),
                None => self.push_topic(facts, Topic::Id(id)),
            }
        }
    }

    /// A topic in error has a row of its own, without partition.
    fn told_error<F: Tell>(&mut self, facts: &mut F, told: TopicStep) {
        let in_error = told.last && told.leaders && self.topic_error != 0;
        if let Some(leaders) = facts.leaders().filter(|_| in_error) {
            leaders.push(LeaderFacts {
                topic: self.topic_name.clone(),
                topic_id: self.topic_id,
                error_code: Some(self.topic_error),
                ..LeaderFacts::default()
            });
        }
    }

    fn told_topic<F: Tell>(&self, facts: &mut F, name: Option<CompactString>) {
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            self.push_topic(facts, Topic::Name(name));
        }
    }

    fn push_topic<F: Tell>(&self, facts: &mut F, topic: Topic) {
        let topics = &mut facts.both_mut().topics;
        if self.coming != Coming::Passing || topics.len() < MOST_ROWS {
            topics.push(topic);
        }
    }

    // Rows.

    fn begin_row(&mut self, kind: RowKind, listed: bool) {
        self.row = listed.then_some(kind);
        self.row_counts = false;
        match kind {
            RowKind::Partition => {
                self.partition = PartitionFacts {
                    topic: self.topic.clone(),
                    group: self.group.clone(),
                    ..PartitionFacts::default()
                };
            }
            RowKind::Leader => {
                self.leader = LeaderFacts {
                    topic: self.topic_name.clone(),
                    topic_id: self.topic_id,
                    ..LeaderFacts::default()
                };
            }
            RowKind::Endpoint => self.endpoint = EndpointFacts::default(),
        }
    }

    fn end_row<F: Tell>(&mut self, facts: &mut F, kind: RowKind) {
        let most = if self.coming == Coming::Passing {
            MOST_ROWS
        } else {
            usize::MAX
        };
        match kind {
            RowKind::Partition => {
                let rows = &mut facts.both_mut().partitions;
                if rows.len() < most {
                    rows.push(std::mem::take(&mut self.partition));
                }
            }
            RowKind::Leader => {
                if let Some(rows) = facts.leaders().filter(|rows| rows.len() < most) {
                    rows.push(std::mem::take(&mut self.leader));
                }
            }
            RowKind::Endpoint => {
                if let Some(rows) = facts.endpoints().filter(|rows| rows.len() < most) {
                    rows.push(std::mem::take(&mut self.endpoint));
                }
            }
        }
    }

    // Records.

    /// Records of `size` bytes, of which these were kept.
    fn records(&mut self, both: &mut Facts, kept: &[u8], size: u64) {
        let batches = self.tells.batches.then_some(&mut both.batches);
        let length = usize::try_from(size).unwrap_or(usize::MAX);
        let summary = summarise(kept, length, &self.partition.topic, self.partition.partition, batches);
        if self.tells.pieces {
            both.pieces.push(Piece {
                topic: self.partition.topic.clone(),
                partition: self.partition.partition,
                kept: kept.to_vec(),
                size,
            });
        }
        self.summed_up(both, summary);
    }

    fn end_records<F: Tell>(&mut self, facts: &mut F) {
        if let Some(passing) = self.records.take() {
            self.is_counted = passing.is_last;
            self.summed_up(facts.both_mut(), passing.summariser.end());
        }
    }

    fn summed_up(&mut self, both: &mut Facts, summary: Summary) {
        both.records = both
            .records
            .zip(summary.records)
            .map(|(sum, records)| sum.saturating_add(records));
        self.partition.records = summary.records;
        self.partition.last_offset = summary.last_offset;
        self.partition.max_timestamp = summary.max_timestamp;
    }
}

/// What bytes hold for the consumers of a group.
fn of_consumer(facts: &mut Facts, embedded: Embedded, kept: &[u8], size: usize) {
    match embedded {
        Embedded::Subscription => {
            let Some(group) = facts.of_group.as_mut() else { return };
            let is_consumer = group.protocol_type.as_deref() == Some("consumer");
            let wanted = is_consumer && group.subscription.is_none();
            if let Some((topics, owned)) = wanted.then(|| members::subscription(kept, size)).flatten() {
                (group.subscription, group.owned) = (Some(topics), Some(owned));
            }
        }
        Embedded::Assignment => {
            let assignment = members::assignment(kept, size);
            if assignment.is_some() || facts.of_group.is_some() {
                groups(facts).assignment = assignment;
            }
        }
    }
}

fn pair(list: &mut Option<Vec<(Topic, i32)>>, topic: &Option<Topic>, partition: i32) {
    if let Some(topic) = topic {
        list.get_or_insert_default().push((topic.clone(), partition));
    }
}

/// Bytes that are not UTF-8 become U+FFFD, as in Kafka's own reader.
fn text_of(bytes: &[u8]) -> CompactString {
    super::shortened_text(bytes)
}

/// A length or a count, -1 for null, and where it ends.
fn length_at(data: &[u8], at: usize, length: Length) -> Result<(i64, usize), Exit> {
    let rest = data.get(at..).unwrap_or_default();
    match length {
        Length::Compact => match rest.first() {
            Some(&byte) if byte < 0x80 => Ok((i64::from(byte) - 1, at + 1)),
            _ => varint_at(data, at).map(|(value, behind)| (value as i64 - 1, behind)),
        },
        Length::Int16 => match rest.first_chunk() {
            Some(bytes) => Ok((i16::from_be_bytes(*bytes).into(), at + 2)),
            None => Err(Exit::More(2)),
        },
        Length::Int32 => match rest.first_chunk() {
            Some(bytes) => Ok((i32::from_be_bytes(*bytes).into(), at + 4)),
            None => Err(Exit::More(4)),
        },
    }
}

/// An unsigned varint of at most 32 bits, and where it ends.
fn varint_at(data: &[u8], at: usize) -> Result<(u64, usize), Exit> {
    let rest = data.get(at..).unwrap_or_default();
    let mut value = 0;
    for (index, &byte) in rest.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return if value <= u32::MAX.into() {
                Ok((value, at + index + 1))
            } else {
                Err(Exit::Wrong)
            };
        }
    }
    Err(if rest.len() < 5 {
        Exit::More(rest.len() + 1)
    } else {
        Exit::Wrong
    })
}

/// A tag, the size of its field, and where both end.
fn tag_at(data: &[u8], at: usize) -> Result<(u64, u64, usize), Exit> {
    let (tag, behind) = varint_at(data, at)?;
    match varint_at(data, behind) {
        Ok((size, end)) => Ok((tag, size, end)),
        Err(Exit::More(more)) => Err(Exit::More(behind - at + more)),
        Err(exit) => Err(exit),
    }
}
