//! The rows of the tables below `exchanges`.
//!
//! Partitions of request and response are joined by topic (name or id, whichever the version has) and number. Where a
//! number on the wire says "none" (-1), the column is null.

use std::borrow::Cow;
use std::sync::Arc;

use compact_str::CompactString;
use foldhash::{HashMap, HashMapExt};

use super::pairing::{Asked, Header};
use super::row::{BatchRow, EndpointRow, GroupEventRow, LeaderRow, PartitionRow, RowSink, Strings};
use super::sessions::Offsets;
use super::topics::{Topics, id_text};
use crate::facts::{BatchFacts, GroupFacts, LeaderFacts, PartitionFacts, RequestFacts, ResponseFacts, Topic};
use crate::kafka::payloads::codec_name;

const PRODUCE: i16 = 0;
const FIND_COORDINATOR: i16 = 10;
const LEAVE_GROUP: i16 = 13;
/// JoinGroup, Heartbeat, LeaveGroup, SyncGroup, ConsumerGroupHeartbeat, ShareGroupHeartbeat.
const OF_GROUPS: [i16; 6] = [11, 12, LEAVE_GROUP, 14, 68, 76];
/// So many pairs of partitions are compared one by one.
const FEW: usize = 64;

/// What the rows of one exchange have in common.
pub(super) struct Details<'a> {
    pub connection: i64,
    pub client: &'a str,
    pub broker: &'a str,
    pub asked: &'a Asked,
    pub said: Option<&'a ResponseFacts>,
    /// None where there was no response.
    pub response_time: Option<i64>,
    pub topics: &'a Topics,
}

impl Details<'_> {
    fn header(&self) -> &Header {
        &self.asked.header
    }

    fn facts(&self) -> &RequestFacts {
        &self.asked.facts
    }

    fn time(&self) -> i64 {
        self.asked.times.end_time
    }

    fn client_id(&self) -> Option<&str> {
        self.header().client_id.as_deref()
    }

    /// A row for every partition that one of the messages names; `offsets` are those in force in a fetch session.
    pub fn partitions(&self, offsets: Option<&Arc<Offsets>>, rows: &mut impl RowSink) {
        let answers = self.said.map_or(&[][..], |said| &said.both.partitions);
        join(&self.facts().both.partitions, answers, |request, answer| {
            if let Some(named) = answer.or(request) {
                self.partition(named, request, answer, offsets, rows);
            }
        });
    }

    fn partition(
        &self,
        named: &PartitionFacts,
        request: Option<&PartitionFacts>,
        answer: Option<&PartitionFacts>,
        offsets: Option<&Arc<Offsets>>,
        rows: &mut impl RowSink,
    ) {
        let is_produce = self.header().api_key == PRODUCE;
        let (topic, topic_id) = self.topics.both(named.topic.as_ref());
        let carrier = if is_produce { request } else { answer };
        let records = carrier.and_then(|it| it.records);
        let mut offset = answer.and_then(|it| it.offset);
        let mut last_offset = carrier.and_then(|it| it.last_offset);
        if is_produce {
            offset = known(offset);
            let count = records.filter(|count| *count != 0);
            last_offset = offset
                .zip(count)
                .and_then(|(first, count)| first.checked_add(count)?.checked_sub(1));
        }
        let start = match (request, offsets, &named.topic) {
            (Some(request), ..) => request.offset,
            (None, Some(offsets), Some(topic)) => offsets.get(&(topic.clone(), named.partition)).copied(),
            _ => None,
        };
        let told_epoch = answer.and_then(|it| known(it.leader_epoch));
        rows.partition(&PartitionRow {
            time: self.time(),
            connection: self.connection,
            correlation_id: self.header().correlation_id,
            api_key: self.header().api_key,
            client_id: self.client_id(),
            group: named.group.as_deref().or(self.facts().both.group.as_deref()),
            topic,
            topic_id: topic_id.as_deref(),
            partition: named.partition,
            error_code: answer.and_then(|it| it.error_code),
            records,
            record_bytes: carrier.and_then(|it| it.record_bytes),
            request_offset: start,
            response_offset: offset,
            last_offset,
            high_watermark: answer.and_then(|it| known(it.high_watermark)),
            last_stable_offset: answer.and_then(|it| known(it.last_stable_offset)),
            log_start_offset: answer.and_then(|it| known(it.log_start_offset)),
            timestamp: request.and_then(|it| it.timestamp),
            max_timestamp: carrier.and_then(|it| it.max_timestamp),
            leader_id: answer.and_then(|it| known(it.leader_id)),
            leader_epoch: told_epoch.or_else(|| request.and_then(|it| known(it.leader_epoch))),
            replica_id: self.facts().replica_id,
            session_id: self.facts().both.session_id,
        });
    }

    /// A row for every record batch, produced or fetched.
    pub fn batches(&self, rows: &mut impl RowSink) {
        let fetched = self.said.map_or(&[][..], |said| &said.both.batches);
        for batch in self.facts().both.batches.iter().chain(fetched) {
            self.batch(batch, rows);
        }
    }

    fn batch(&self, batch: &BatchFacts, rows: &mut impl RowSink) {
        let (topic, topic_id) = self.topics.both(batch.topic.as_ref());
        let codec = batch.codec.map(codec_name);
        rows.batch(&BatchRow {
            time: self.time(),
            connection: self.connection,
            correlation_id: self.header().correlation_id,
            api_key: self.header().api_key,
            client_id: self.client_id(),
            topic,
            topic_id: topic_id.as_deref(),
            partition: batch.partition,
            magic: batch.magic.into(),
            base_offset: batch.base_offset,
            last_offset_delta: batch.last_offset_delta,
            records: batch.records.map(i64::from),
            bytes: batch.bytes,
            codec: codec.as_deref(),
            producer_id: batch.producer_id,
            producer_epoch: batch.producer_epoch,
            base_sequence: batch.base_sequence,
            transactional: batch.transactional,
            control: batch.control,
            first_timestamp: batch.first_timestamp,
            max_timestamp: batch.max_timestamp,
            log_append_time: batch.log_append_time,
            complete: batch.complete,
        });
    }

    /// The row of an exchange of a group protocol; of others there is none.
    pub fn group_event(&self, rows: &mut impl RowSink) {
        let header = self.header();
        if !OF_GROUPS.contains(&header.api_key) {
            return;
        }
        let nothing = GroupFacts::default();
        let asked = self.facts().both.of_group.as_deref().unwrap_or(&nothing);
        let answer = self
            .said
            .and_then(|said| said.both.of_group.as_deref())
            .unwrap_or(&nothing);
        let is_error = self.said.and_then(|said| said.error_code).is_some_and(|code| code != 0);
        let generation = answer.generation.filter(|_| !is_error).or(asked.generation);
        let mut members = Strings::default();
        if header.api_key == LEAVE_GROUP {
            let named = asked.members.iter().flatten().filter(|_| is_some_of(&asked.members));
            named.for_each(|member| members.push(member));
            if members.some().is_none()
                && let Some(member) = some(&asked.member_id)
            {
                members.push(member);
            }
        } else {
            answer.members.iter().flatten().for_each(|member| members.push(member));
        }
        let subscription = asked.subscription.as_ref().map(|topics| {
            let mut texts = Strings::default();
            topics.iter().for_each(|topic| texts.push(topic));
            texts
        });
        let owned = asked.owned.as_deref().map(|pairs| self.shown(pairs));
        let assignment = answer.assignment.as_deref().map(|pairs| self.shown(pairs));
        let wait = |end: i64| end.saturating_sub(self.time()) as f64 / 1e6;
        rows.group_event(&GroupEventRow {
            time: self.time(),
            response_time: self.response_time,
            connection: self.connection,
            correlation_id: header.correlation_id,
            api_key: header.api_key,
            group: self.facts().both.group.as_deref(),
            client: self.client,
            broker: self.broker,
            client_id: self.client_id(),
            member_id: some(&answer.member_id).or(some(&asked.member_id)),
            instance_id: asked.instance_id.as_deref(),
            generation,
            protocol_type: some(&asked.protocol_type).or(answer.protocol_type.as_deref()),
            protocol: some(&answer.protocol).or(some(&asked.protocol)),
            leader: some(&answer.leader),
            members: members.some(),
            subscription: subscription.as_ref().map(Strings::list),
            owned: owned.as_ref().map(Strings::list),
            assignment: assignment.as_ref().map(Strings::list),
            session_timeout_ms: asked.session_timeout_ms,
            rebalance_timeout_ms: known(asked.rebalance_timeout_ms),
            reason: asked.reason.as_deref(),
            error_code: self.said.and_then(|said| said.error_code),
            wait_ms: self.response_time.map(wait),
        });
    }

    /// A row for every address that the response told; one without a host is none (no coordinator was found).
    pub fn endpoints(&self, rows: &mut impl RowSink) {
        let (Some(said), Some(time)) = (self.said, self.response_time) else {
            return;
        };
        let header = self.header();
        let keys = &self.facts().coordinator_keys;
        let key = keys.first().filter(|_| header.api_key == FIND_COORDINATOR);
        let cluster = said.cluster.as_deref();
        for told in &said.endpoints {
            let Some(host) = some(&told.host) else { continue };
            rows.endpoint(&EndpointRow {
                time,
                connection: self.connection,
                correlation_id: header.correlation_id,
                api_key: header.api_key,
                client: self.client,
                broker: self.broker,
                client_id: self.client_id(),
                node_id: told.node_id,
                host,
                port: told.port,
                rack: told.rack.as_deref(),
                cluster_id: cluster.and_then(|it| it.cluster_id.as_deref()),
                controller_id: known(cluster.and_then(|it| it.controller_id)),
                coordinator_key: told.coordinator_key.as_ref().or(key).map(CompactString::as_str),
            });
        }
    }

    /// A row for every partition whose leader the response told, and for every topic in error.
    pub fn leaders(&self, rows: &mut impl RowSink) {
        let (Some(said), Some(time)) = (self.said, self.response_time) else {
            return;
        };
        for told in &said.leaders {
            let (topic, topic_id) = self.named(told);
            rows.leader(&LeaderRow {
                time,
                connection: self.connection,
                correlation_id: self.header().correlation_id,
                topic,
                topic_id: topic_id.as_deref(),
                partition: told.partition,
                leader_id: told.leader_id,
                leader_epoch: told.leader_epoch,
                replicas: told.replicas,
                in_sync: told.in_sync,
                error_code: told.error_code,
            });
        }
    }

    /// Name and id; of an id that is all zero there is none.
    fn named<'a>(&'a self, told: &'a LeaderFacts) -> (Option<&'a str>, Option<CompactString>) {
        let id = told.topic_id.as_ref().filter(|id| id.iter().any(|byte| *byte != 0));
        let name = some(&told.topic);
        (name.or_else(|| self.topics.name(id?)), id.map(id_text))
    }

    fn shown(&self, pairs: &[(Topic, i32)]) -> Strings {
        let mut texts = Strings::default();
        for (topic, partition) in pairs {
            let topic: Cow<'_, str> = self.topics.shown(topic);
            texts.push_all(&[&topic, "-", &compact_str::format_compact!("{partition}")]);
        }
        texts
    }
}

/// Pairs the partitions of a request with those of its answer: those of the answer first, then what it lacks.
fn join<'a>(
    asked: &'a [PartitionFacts],
    answers: &'a [PartitionFacts],
    mut take: impl FnMut(Option<&'a PartitionFacts>, Option<&'a PartitionFacts>),
) {
    type Key<'a> = (Option<&'a str>, Option<&'a Topic>, i32);
    fn key(row: &PartitionFacts) -> Key<'_> {
        (row.group.as_deref(), row.topic.as_ref(), row.partition)
    }
    if let ([request], [answer]) = (asked, answers)
        && key(request) == key(answer)
    {
        return take(Some(request), Some(answer));
    }
    // A partition that is named twice has one answer, and the last request counts.
    let mut waiting: Vec<Option<&PartitionFacts>> = Vec::with_capacity(asked.len());
    if asked.len() * asked.len().max(answers.len()) <= FEW {
        let place = |waiting: &[Option<&PartitionFacts>], wanted: Key<'_>| {
            waiting.iter().position(|row| row.is_some_and(|row| key(row) == wanted))
        };
        for row in asked {
            match place(&waiting, key(row)) {
                Some(at) => waiting[at] = Some(row),
                None => waiting.push(Some(row)),
            }
        }
        for row in answers {
            let request = place(&waiting, key(row)).and_then(|at| waiting[at].take());
            take(request, Some(row));
        }
    } else {
        let mut places: HashMap<Key<'_>, usize> = HashMap::with_capacity(asked.len());
        for row in asked {
            match places.get(&key(row)) {
                Some(&at) => waiting[at] = Some(row),
                None => {
                    places.insert(key(row), waiting.len());
                    waiting.push(Some(row));
                }
            }
        }
        for row in answers {
            let request = places.get(&key(row)).and_then(|&at| waiting[at].take());
            take(request, Some(row));
        }
    }
    for row in waiting.into_iter().flatten() {
        take(Some(row), None);
    }
}

/// A number that is not the wire's word for none.
fn known<N: PartialOrd + Default>(number: Option<N>) -> Option<N> {
    number.filter(|number| *number >= N::default())
}

/// A text that is not empty.
fn some(text: &Option<CompactString>) -> Option<&str> {
    text.as_deref().filter(|text| !text.is_empty())
}

fn is_some_of(list: &Option<Vec<CompactString>>) -> bool {
    list.as_ref().is_some_and(|list| !list.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(partition: i32, offset: i64) -> PartitionFacts {
        PartitionFacts {
            topic: Some(Topic::Name("t".into())),
            partition,
            offset: Some(offset),
            ..PartitionFacts::default()
        }
    }

    fn joined(asked: &[PartitionFacts], answers: &[PartitionFacts]) -> Vec<(Option<i64>, Option<i64>)> {
        let mut pairs = Vec::new();
        let offset = |row: Option<&PartitionFacts>| row.and_then(|row| row.offset);
        join(asked, answers, |request, answer| {
            pairs.push((offset(request), offset(answer)))
        });
        pairs
    }

    #[test]
    fn partitions_are_joined_by_topic_and_number() {
        assert_eq!(joined(&[row(1, 10)], &[row(1, 20)]), [(Some(10), Some(20))]);
        assert_eq!(
            joined(&[row(1, 10)], &[row(2, 20)]),
            [(None, Some(20)), (Some(10), None)]
        );
        assert_eq!(joined(&[], &[]), []);
        let asked = [row(1, 10), row(2, 11), row(1, 12), row(3, 13)];
        let answers = [row(3, 23), row(1, 21), row(1, 22)];
        let expected = [
            (Some(13), Some(23)),
            (Some(12), Some(21)),
            (None, Some(22)),
            (Some(11), None),
        ];
        assert_eq!(joined(&asked, &answers), expected);
    }

    #[test]
    fn many_are_joined_as_few_are() {
        let many = |rows: &[PartitionFacts]| {
            let more = (100..200).map(|partition| row(partition, partition.into()));
            more.chain(rows.iter().cloned()).collect::<Vec<_>>()
        };
        let asked = [row(1, 10), row(2, 11), row(1, 12), row(3, 13)];
        let answers = [row(3, 23), row(1, 21), row(1, 22)];
        let mut found = joined(&many(&asked), &many(&answers));
        let rest = found.split_off(100);
        assert!(found.iter().all(|(request, answer)| request == answer));
        assert_eq!(rest, joined(&asked, &answers));
    }
}
