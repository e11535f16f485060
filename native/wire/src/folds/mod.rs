//! Folds: rows of `exchanges`, `partitions` and `batches` that no question of an analysis can tell apart, made one while
//! they are made.
//!
//! [`Folds`] takes the rows of one worker, those of an exchange one behind the other. What it gives are partial sums, in
//! any number of pieces: `netdiag.traffic.folds` adds up those of all pieces. So memory is bounded: what is held is
//! given away when it is much, and everything begins anew.
//!
//! | module | does |
//! |---|---|
//! | `fold` | one fold: rows that are alike become one |
//! | `specs` | which folds there are |
//! | `runs` | what is kept of every batch: sequences of producers, places in the log |
//! | `texts` | texts by numbers |

mod fold;
mod runs;
mod specs;
mod texts;

use std::sync::Arc;

use arrow_array::RecordBatch;
use foldhash::{HashMap, HashSet};

use self::fold::{Cells, Fold, digits};
use self::runs::{Producer, Runs, SEQUENCES, STAMPS, Stamp};
use self::specs::*;
use self::texts::Texts;
use crate::exchange::row::*;

/// So many folded rows are held at most.
const MOST_ROWS: usize = 200_000;
/// So many bytes of text are.
const MOST_TEXT: usize = 32 << 20;
/// So many connections are remembered with what they are called.
const MOST_ENDS: usize = 4096;
/// In an exchange with few partitions those are looked through that were seen already.
const FEW: usize = 32;

const PRODUCE: i16 = 0;
const FETCH: i16 = 1;
const LIST_OFFSETS: i16 = 2;
const METADATA: i16 = 3;
const OFFSET_COMMIT: i16 = 8;
const OFFSET_FETCH: i16 = 9;
const JOIN_GROUP: i16 = 11;
const SYNC_GROUP: i16 = 14;
const INIT_PRODUCER_ID: i16 = 22;
const END_TXN: i16 = 26;
const TXN_OFFSET_COMMIT: i16 = 28;
/// What transactions are made of.
const OF_TRANSACTIONS: [i16; 6] = [PRODUCE, INIT_PRODUCER_ID, 24, 25, END_TXN, TXN_OFFSET_COMMIT];
/// socket.request.max.bytes of a broker that nobody changed.
const LARGEST_REQUEST: i64 = 104_857_600;
const TOO_LARGE: [i16; 2] = [10, 18];
const UNANSWERED: &str = "unanswered";
/// The latest offset, where a ListOffsets asks for it.
const LATEST: i64 = -1;

/// Rows of one fold.
#[derive(Clone, Debug)]
pub struct Folded {
    pub name: &'static str,
    pub rows: RecordBatch,
}

/// Which rows are folded: not those of some connections; what topics are called that come without a name; and which
/// folds are made.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    pub without: HashSet<i64>,
    /// Names by ids.
    pub names: HashMap<String, String>,
    pub folds: HashSet<String>,
}

impl Selection {
    fn makes(&self, fold: &str) -> bool {
        self.folds.contains(fold)
    }
}

/// Folds rows.
#[derive(Debug)]
pub struct Folds {
    texts: Texts,
    folds: Vec<Option<Fold>>,
    /// Rows in all folds.
    held: usize,
    runs: Runs,
    selection: Arc<Selection>,
    ends: HashMap<i64, Ends>,
    current: Option<Current>,
    /// The partitions that count for the exchange under way.
    counted: Counted,
    last_topic: Option<Topic>,
    /// The numbers of words that come again and again.
    words: Vec<u32>,
    full: Vec<Folded>,
}

/// What a connection is called, and what its exchanges told last.
#[derive(Clone, Copy, Debug)]
struct Ends {
    client: u32,
    broker: u32,
    /// The client with port 0.
    host: u32,
    client_name: Option<u32>,
    broker_name: Option<u32>,
    listener: Option<u32>,
    client_id: Option<u32>,
    file: u32,
}

/// The exchange whose rows are coming.
#[derive(Clone, Copy, Debug)]
struct Current {
    ends: Ends,
    connection: i64,
    correlation_id: i32,
    time: i64,
    api_key: Option<i16>,
    api_name: Option<u32>,
    error_code: Option<i16>,
    response_time: Option<i64>,
    response_packet: Option<i64>,
    client_id: Option<u32>,
    file: u32,
    topics: Option<u32>,
    acks: Option<i16>,
    is_refused: bool,
    tells: bool,
}

/// Which topics and partitions of an exchange were counted, and where its batches lie in the log.
#[derive(Debug, Default)]
struct Counted {
    few: Vec<(u64, i32)>,
    topics: HashSet<u64>,
    partitions: HashSet<(u64, i32)>,
    bases: Vec<(u64, i32, i64)>,
    base_of: HashMap<(u64, i32), Vec<i64>>,
}

impl Counted {
    fn clear(&mut self) {
        self.few.clear();
        self.bases.clear();
        if !self.topics.is_empty() {
            (self.topics, self.partitions) = Default::default();
        }
        if !self.base_of.is_empty() {
            self.base_of = HashMap::default();
        }
    }

    /// Whether a partition is the first of its topic, and the first row of itself.
    fn count(&mut self, topic: u64, partition: i32) -> (bool, bool) {
        if self.topics.is_empty() && self.few.len() < FEW {
            let of_topic = self.few.iter().any(|(known, _)| *known == topic);
            let itself = self.few.contains(&(topic, partition));
            if !itself {
                self.few.push((topic, partition));
            }
            return (!of_topic, !itself);
        }
        for (topic, partition) in self.few.drain(..) {
            self.topics.insert(topic);
            self.partitions.insert((topic, partition));
        }
        (self.topics.insert(topic), self.partitions.insert((topic, partition)))
    }

    /// A partition's batches of this exchange begin at this offset. A producer names a partition once; whoever names
    /// it again and again must not make every batch meet every offset.
    fn base(&mut self, topic: u64, partition: i32, base: i64) {
        if self.base_of.is_empty() && self.bases.len() < FEW {
            self.bases.push((topic, partition, base));
            return;
        }
        for (topic, partition, base) in self.bases.drain(..) {
            self.base_of.entry((topic, partition)).or_default().push(base);
        }
        let bases = self.base_of.entry((topic, partition)).or_default();
        if bases.len() < FEW {
            bases.push(base);
        }
    }

    fn bases(&self, topic: u64, partition: i32) -> impl Iterator<Item = i64> {
        let few = self
            .bases
            .iter()
            .filter(move |(known, number, _)| (*known, *number) == (topic, partition));
        let many = self.base_of.get(&(topic, partition)).into_iter().flatten().copied();
        few.map(|(.., base)| *base).chain(many)
    }
}

impl Folds {
    /// Nothing yet.
    pub fn new(selection: Arc<Selection>) -> Folds {
        Folds {
            texts: Texts::default(),
            folds: SPECS
                .iter()
                .map(|spec| selection.makes(spec.name).then(|| Fold::new(spec)))
                .collect(),
            held: 0,
            runs: Runs::new(selection.makes(SEQUENCES), selection.makes(STAMPS)),
            selection,
            ends: HashMap::default(),
            current: None,
            counted: Counted::default(),
            last_topic: None,
            words: Vec::new(),
            full: Vec::new(),
        }
    }

    /// What was given away so far.
    pub fn take(&mut self) -> Vec<Folded> {
        std::mem::take(&mut self.full)
    }

    /// All that is left; a piece of every fold, be it without rows.
    pub fn finish(&mut self) -> Vec<Folded> {
        self.end_exchange();
        self.give_away();
        self.take()
    }

    fn give_away(&mut self) {
        let Folds { texts, folds, full, .. } = self;
        full.extend(folds.iter_mut().flatten().map(|fold| fold.take(texts)));
        full.extend(self.runs.take(&self.texts));
        self.texts = Texts::default();
        self.ends = HashMap::default();
        self.last_topic = None;
        self.words.clear();
        self.held = 0;
    }

    #[inline]
    fn add(&mut self, fold: usize, row: &Cells, time: i64) {
        if let Some(fold) = &mut self.folds[fold] {
            self.held += fold.add(row, time, &self.texts);
        }
    }

    /// The exchange under way has no more rows.
    fn end_exchange(&mut self) {
        let Some(it) = self.current.take() else { return };
        self.counted.clear();
        let mut cells = Cells::default();
        if it.is_refused {
            cells
                .begin()
                .int(Some(it.connection))
                .int(Some(it.correlation_id))
                .int(Some(it.time));
            cells.int(it.response_time).text(it.api_name).int(it.error_code);
            cells
                .text(Some(it.ends.client))
                .text(it.client_id)
                .text(it.ends.client_name);
            cells
                .text(Some(it.ends.broker))
                .text(it.ends.broker_name)
                .text(it.ends.listener);
            self.add(REFUSED, &cells, it.time);
        }
        if it.tells || it.api_key == Some(METADATA) {
            cells
                .begin()
                .int(Some(it.connection))
                .int(Some(it.correlation_id))
                .int(it.response_time);
            cells
                .int(it.response_packet)
                .text(Some(it.file))
                .int(it.api_key)
                .text(it.topics);
            self.add(TELLERS, &cells, it.time);
        }
        if self.held + self.runs.held() > MOST_ROWS || self.texts.bytes() > MOST_TEXT {
            self.give_away();
        } else if self.runs.are_full() {
            let runs = self.runs.take(&self.texts);
            self.full.extend(runs);
        }
    }

    fn ends_of(&mut self, row: &ExchangeRow<'_>) -> Ends {
        let texts = &mut self.texts;
        if let Some(ends) = self.ends.get_mut(&row.connection)
            && texts.is(ends.client, row.client)
            && texts.is(ends.broker, row.broker)
        {
            if !ends
                .client_id
                .is_some_and(|known| row.client_id.is_some_and(|now| texts.is(known, now)))
            {
                ends.client_id = row.client_id.map(|now| texts.intern(now));
            }
            if !texts.is(ends.file, row.file) {
                ends.file = texts.intern(row.file);
            }
            return *ends;
        }
        let mut named = |text: Option<&str>| text.map(|text| texts.intern(text));
        let ends = Ends {
            client_name: named(row.client_name),
            broker_name: named(row.broker_name),
            listener: named(row.listener),
            client_id: named(row.client_id),
            client: texts.intern(row.client),
            broker: texts.intern(row.broker),
            host: texts.intern(&with_port_0(row.client)),
            file: texts.intern(row.file),
        };
        if self.ends.len() >= MOST_ENDS {
            self.ends.clear();
        }
        self.ends.insert(row.connection, ends);
        ends
    }

    /// Mostly that of the row before.
    fn topic(&mut self, topic: Option<&str>, topic_id: Option<&str>) -> Topic {
        let topic = topic.or_else(|| self.selection.names.get(topic_id?).map(String::as_str));
        let is_same = |number: Option<u32>, text: Option<&str>| match (number, text) {
            (Some(number), Some(text)) => self.texts.is(number, text),
            (number, text) => number.is_none() && text.is_none(),
        };
        if let Some(last) = self.last_topic
            && is_same(last.topic, topic)
            && is_same(last.topic_id, topic_id)
        {
            return last;
        }
        let topic = topic.map(|text| self.texts.intern(text));
        let topic_id = topic_id.map(|text| self.texts.intern(text));
        *self.last_topic.insert(Topic { topic, topic_id })
    }

    /// The number of one of few words, such as the name of an API.
    fn word(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.words.iter().find(|&&number| self.texts.is(number, text)) {
            return number;
        }
        let number = self.texts.intern(text);
        if self.words.len() < FEW {
            self.words.push(number);
        }
        number
    }

    fn exchange_row(&mut self, row: &ExchangeRow<'_>) {
        let ends = self.ends_of(row);
        let (time, response_time) = (microseconds(row.time), row.response_time.map(microseconds));
        let until = response_time.unwrap_or(time);
        let (decoded, outcome) = (self.word(row.decoded), self.word(row.outcome));
        let api_name = row.api_name.map(|name| self.word(name));
        let topics = row.topics.map(|topics| self.texts.intern_list(topics));
        let Ends {
            client,
            broker,
            host,
            client_name,
            broker_name,
            listener,
            client_id,
            file,
        } = ends;
        let (client, broker, host, file) = (Some(client), Some(broker), Some(host), Some(file));
        let is_client = row.replica_id.unwrap_or(-1) < 0;
        let is_unanswered = row.outcome == UNANSWERED;
        let is_long_poll = row.api_key == Some(FETCH) && row.empty == Some(true) && row.wait_ms > Some(0);
        let wait_ms = row.wait_ms.filter(|_| is_long_poll);
        self.current = Some(Current {
            ends,
            connection: row.connection,
            correlation_id: row.correlation_id,
            time,
            api_key: row.api_key,
            api_name,
            error_code: row.error_code,
            response_time,
            response_packet: row.response_packet,
            client_id,
            file: ends.file,
            topics,
            acks: row.acks,
            is_refused: row.error_code.is_some_and(|code| code != 0),
            tells: false,
        });
        let mut cells = Cells::default();
        let sizes = |cells: &mut Cells| {
            cells.int(row.request_bytes).int(row.response_bytes);
        };
        let who = |cells: &mut Cells| {
            cells.text(host).text(client_id).text(client_name);
        };
        let whom = |cells: &mut Cells| {
            cells.text(broker).text(broker_name).text(listener);
        };
        let four = |cells: &mut Cells| {
            cells.text(client).text(client_id).text(broker).text(file);
        };

        cells
            .begin()
            .text(api_name)
            .int(row.api_version)
            .text(Some(decoded))
            .text(Some(outcome));
        sizes(&mut cells);
        self.add(COVERAGE, &cells, time);

        cells.begin().text(api_name);
        who(&mut cells);
        whom(&mut cells);
        sizes(&mut cells);
        cells
            .int(row.records)
            .int(row.record_bytes)
            .int(Some(until))
            .int(Some(time));
        self.add(RATES, &cells, time);

        let latency = row.latency_ms.map(digits);
        let second = time.div_euclid(1_000_000) * 1_000_000;
        let is_wrong = row.error_code.map(|code| i16::from(code != 0));
        cells
            .begin()
            .int(Some(second))
            .int(is_wrong)
            .text(Some(outcome))
            .float(latency);
        sizes(&mut cells);
        self.add(TIMELINE, cells.float(row.latency_ms), time);

        if api_name.is_some() {
            let service = service(row, wait_ms, latency);
            cells.begin().text(api_name).int(row.api_key);
            whom(&mut cells);
            cells
                .text(Some(outcome))
                .int(is_long_poll.then_some(true))
                .int(wait_ms)
                .float(latency)
                .float(service);
            self.add(LATENCY, cells.int(row.request_bytes).float(row.latency_ms), time);
        }
        if api_name.is_some() && row.throttle_ms > Some(0) {
            cells.begin().text(api_name);
            who(&mut cells);
            whom(&mut cells);
            self.add(THROTTLING, cells.int(row.throttle_ms), time);
        }
        if row.api_key.is_some() && row.api_version.is_some() {
            cells.begin().text(api_name).int(row.api_key).int(row.api_version);
            who(&mut cells);
            self.add(API_VERSIONS, &cells, time);
        }
        if row.api_key == Some(FETCH) && is_client && row.response_bytes.is_some() {
            cells.begin().int(row.api_key).int(row.replica_id);
            who(&mut cells);
            cells
                .text(topics)
                .int(row.empty)
                .int(row.response_bytes)
                .int(row.records)
                .int(row.record_bytes);
            self.add(CONSUME, &cells, time);
        }
        if let Some(id) = row.transactional_id
            && row.api_key.is_some_and(|key| OF_TRANSACTIONS.contains(&key))
        {
            let id = self.texts.intern(id);
            cells
                .begin()
                .text(Some(id))
                .int(row.api_key)
                .int(Some(time))
                .int(row.request_packet);
            cells
                .int(Some(row.correlation_id))
                .int(row.error_code)
                .text(Some(outcome));
            cells.text(client_id).int(response_time).int(row.committed);
            self.add(TRANSACTIONS, &cells, time);
        }
        if row.api_key.is_some() && is_client {
            four(cells.begin());
            cells
                .int(row.api_key)
                .int(row.api_version)
                .int(row.replica_id)
                .text(Some(outcome))
                .int(row.throttle_ms);
            cells
                .int(Some(time.div_euclid(10_000_000)))
                .int(Some(time))
                .int(row.request_packet);
            self.add(CALLS, &cells, time);
        }
        let is_by_partition = |key| matches!(key, PRODUCE | FETCH | LIST_OFFSETS | METADATA);
        if row.api_key.is_some_and(|key| !is_by_partition(key)) && is_client && row.error_code.is_some() {
            let group = row.group.map(|group| self.texts.intern(group));
            let first_topic = topics.map(|topics| self.texts.first_of(topics));
            cells.begin().int(Some(row.connection));
            four(&mut cells);
            cells
                .int(row.api_key)
                .int(row.replica_id)
                .int(row.error_code)
                .text(group)
                .text(first_topic);
            self.add(ANSWERS, cells.int(Some(time)).int(row.response_packet), time);
        }
        if row.request_bytes > Some(LARGEST_REQUEST) && is_unanswered {
            four(cells.begin());
            cells
                .int(row.api_key)
                .int(row.replica_id)
                .text(topics)
                .text(Some(outcome))
                .int(row.request_bytes);
            self.add(CUT_OFF, cells.int(Some(time)).int(row.request_packet), time);
        }
        if row.api_key == Some(PRODUCE) && row.acks.is_some() {
            four(cells.begin());
            cells
                .int(row.api_key)
                .int(row.acks)
                .text(topics)
                .int(Some(time))
                .int(row.request_packet);
            self.add(ACKS, &cells, time);
        }
        cells
            .begin()
            .int(Some(row.connection))
            .text(Some(outcome))
            .int(Some(time))
            .int(Some(until));
        self.add(SILENCES, &cells, time);
    }

    fn partition_row(&mut self, row: &PartitionRow<'_>) {
        let Topic { topic, topic_id } = self.topic(row.topic, row.topic_id);
        let named = Topic { topic, topic_id }.key();
        let client_id = self.client_id(row.client_id);
        let group = row.group.map(|group| self.texts.intern(group));
        let time = microseconds(row.time);
        let is_ok = row.error_code.unwrap_or(0) == 0;
        let is_wrong = row.error_code.is_some_and(|code| code != 0);
        if let Some(current) = &mut self.current {
            current.is_refused |= is_wrong;
        }

        let is_client = row.replica_id.unwrap_or(-1) < 0;
        let counts = row.api_key == PRODUCE || row.api_key == FETCH && is_client && row.records > Some(0);
        let (of_topic, itself) = if counts {
            self.counted.count(named, row.partition)
        } else {
            (false, false)
        };
        let mut cells = Cells::default();
        cells
            .begin()
            .int(Some(row.connection))
            .int(Some(row.api_key))
            .text(client_id)
            .text(group);
        cells
            .text(topic)
            .text(topic_id)
            .int(Some(row.partition))
            .int(row.error_code)
            .int(row.replica_id);
        cells
            .int(row.record_bytes.map(|bytes| bytes > 0))
            .int(row.records)
            .int(row.record_bytes);
        cells.int(Some(of_topic)).int(Some(itself)).int(Some(time));
        self.add(PLACES, &cells, time);

        let is_of_group = matches!(row.api_key, OFFSET_COMMIT | OFFSET_FETCH | TXN_OFFSET_COMMIT) && group.is_some();
        let end = match row.api_key {
            FETCH => row.high_watermark,
            LIST_OFFSETS if row.timestamp == Some(LATEST) => row.response_offset,
            PRODUCE => {
                let first = row.response_offset.filter(|offset| *offset >= 0);
                first.and_then(|first| first.checked_add(row.records?))
            }
            _ => None,
        };
        let end = end.filter(|end| is_ok && *end >= 0);
        if is_of_group || end.is_some() {
            let own = |value: Option<i64>| value.filter(|_| is_of_group);
            cells
                .begin()
                .int(Some(row.api_key))
                .text(client_id.filter(|_| is_of_group));
            cells
                .text(group.filter(|_| is_of_group))
                .text(topic)
                .text(topic_id)
                .int(Some(row.partition));
            cells
                .int(row.error_code)
                .int(own(Some(time)))
                .int(own(row.request_offset))
                .int(own(row.response_offset));
            self.add(OFFSETS, cells.int(end), time);
        }
        if is_wrong {
            cells
                .begin()
                .int(Some(row.connection))
                .int(Some(row.correlation_id))
                .int(Some(time));
            self.add(
                REFUSED_PARTITIONS,
                cells.text(topic).text(topic_id).int(row.error_code),
                time,
            );
        }
        if row.error_code.is_some_and(|code| TOO_LARGE.contains(&code)) {
            cells
                .begin()
                .int(Some(row.connection))
                .text(client_id)
                .text(topic)
                .text(topic_id);
            self.add(
                TOO_LARGE_FOLD,
                cells.int(row.error_code).int(row.record_bytes).int(Some(time)),
                time,
            );
        }
        if row.api_key == PRODUCE
            && is_ok
            && let Some(base) = row.response_offset.filter(|offset| *offset >= 0)
        {
            self.counted.base(named, row.partition, base);
        }
    }

    fn batch_row(&mut self, row: &BatchRow<'_>) {
        let named = self.topic(row.topic, row.topic_id);
        let client_id = self.client_id(row.client_id);
        let codec = row.codec.map(|codec| self.word(codec));
        let time = microseconds(row.time);
        let mut cells = Cells::default();
        let is_control = row.control == Some(true);
        let current = self.current;
        if row.api_key == PRODUCE {
            let sign = row.producer_id.map(|id| if id >= 0 { 0_i64 } else { -1 });
            let acks = current.and_then(|current| current.acks);
            cells
                .begin()
                .int(Some(row.api_key))
                .text(client_id)
                .text(named.topic)
                .text(named.topic_id);
            cells
                .int(acks)
                .text(codec)
                .int(sign)
                .int(row.transactional)
                .float(Some(digits(row.bytes as f64)));
            cells.float(row.records.map(|records| digits(records as f64)));
            self.add(
                SENT,
                cells
                    .int(Some(row.bytes))
                    .int(row.records)
                    .int(Some(row.bytes))
                    .int(row.records),
                time,
            );
        }
        if row.api_key == PRODUCE && !is_control {
            cells
                .begin()
                .int(Some(row.connection))
                .int(Some(row.api_key))
                .text(client_id);
            cells
                .text(named.topic)
                .text(named.topic_id)
                .text(codec)
                .int(row.control);
            self.add(
                PRODUCED,
                cells.int(row.records).int(Some(row.bytes)).int(Some(time)),
                time,
            );
            if let Some(id) = row.producer_id.filter(|id| *id >= 0)
                && let Some(sequence) = row.base_sequence.filter(|sequence| *sequence >= 0)
                && let Some(current) = current
            {
                let producer = Producer {
                    host: current.ends.host,
                    client_id,
                    named,
                    partition: row.partition,
                    id,
                    epoch: row.producer_epoch,
                };
                self.runs.sequence(producer, sequence);
            }
        }
        let (topic, Some(last_stamp)) = (named.key(), row.max_timestamp.filter(|time| *time >= 0)) else {
            return;
        };
        if is_control || topic == 0 {
            return;
        }
        let is_unknown = row.log_append_time == Some(true) || row.first_timestamp.is_some_and(|time| time < 0);
        let first_stamp = row.first_timestamp.filter(|_| !is_unknown).unwrap_or(last_stamp);
        let delta = row
            .last_offset_delta
            .map(i64::from)
            .or(row.records.map(|records| records - 1))
            .unwrap_or(0);
        let mut stamp = |base: i64| {
            let last = base.wrapping_add(delta);
            self.runs.stamp(
                named,
                row.partition,
                Stamp {
                    base,
                    last,
                    first_stamp,
                    last_stamp,
                },
            );
        };
        match row.api_key {
            FETCH => row.base_offset.into_iter().for_each(stamp),
            PRODUCE => self.counted.bases(topic, row.partition).for_each(&mut stamp),
            _ => {}
        }
    }

    /// That of a row below an exchange, which is that of the exchange.
    fn client_id(&mut self, text: Option<&str>) -> Option<u32> {
        let text = text?;
        let known = self.current.and_then(|current| current.client_id);
        Some(
            known
                .filter(|known| self.texts.is(*known, text))
                .unwrap_or_else(|| self.texts.intern(text)),
        )
    }

    fn is_left_out(&self, connection: i64) -> bool {
        !self.selection.without.is_empty() && self.selection.without.contains(&connection)
    }
}

/// A topic as it is told: by its name, its id, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Topic {
    topic: Option<u32>,
    topic_id: Option<u32>,
}

impl Topic {
    /// Its name, its id where that is not known; 0 for neither.
    fn key(self) -> u64 {
        self.topic.or(self.topic_id).map_or(0, |number| u64::from(number) + 1)
    }
}

/// As Arrow divides.
fn microseconds(nanoseconds: i64) -> i64 {
    nanoseconds / 1000
}

/// The latency less the waiting that was asked for, as `aggregates.requests.service` has it, at three digits.
fn service(row: &ExchangeRow<'_>, wait_ms: Option<i32>, latency: Option<f64>) -> Option<f64> {
    if matches!(row.api_key, Some(JOIN_GROUP | SYNC_GROUP)) {
        return None;
    }
    let whole = row.latency_ms?;
    match wait_ms.map(f64::from).filter(|waited| whole >= *waited) {
        Some(waited) => Some(digits(whole - waited)),
        None => latency,
    }
}

/// address:port with port 0.
fn with_port_0(endpoint: &str) -> String {
    match endpoint.rsplit_once(':') {
        Some((address, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{address}:0")
        }
        _ => endpoint.to_owned(),
    }
}

/// Rows on their way to others, of which those of exchanges, partitions and batches are folded as well.
pub(crate) struct Through<'a, S> {
    pub folds: &'a mut Folds,
    pub rows: &'a mut S,
}

impl<S: RowSink> RowSink for Through<'_, S> {
    fn go_to(&mut self, order: u32) {
        self.rows.go_to(order);
    }

    fn exchange(&mut self, row: &ExchangeRow<'_>) {
        self.folds.end_exchange();
        if !self.folds.is_left_out(row.connection) {
            self.folds.exchange_row(row);
        }
        self.rows.exchange(row);
    }

    fn partition(&mut self, row: &PartitionRow<'_>) {
        if !self.folds.is_left_out(row.connection) {
            self.folds.partition_row(row);
        }
        self.rows.partition(row);
    }

    fn batch(&mut self, row: &BatchRow<'_>) {
        if !self.folds.is_left_out(row.connection) {
            self.folds.batch_row(row);
        }
        self.rows.batch(row);
    }

    fn group_event(&mut self, row: &GroupEventRow<'_>) {
        self.rows.group_event(row);
    }

    fn endpoint(&mut self, row: &EndpointRow<'_>) {
        if let Some(current) = &mut self.folds.current {
            current.tells = true;
        }
        self.rows.endpoint(row);
    }

    fn leader(&mut self, row: &LeaderRow<'_>) {
        if let Some(current) = &mut self.folds.current {
            current.is_refused |= row.error_code.is_some_and(|code| code != 0);
        }
        self.rows.leader(row);
    }

    fn connection(&mut self, row: &ConnectionRow<'_>) {
        self.rows.connection(row);
    }

    fn name(&mut self, row: &NameRow<'_>) {
        self.rows.name(row);
    }

    fn loss(&mut self, row: &LossRow<'_>) {
        self.rows.loss(row);
    }

    fn record(&mut self, row: &RecordRow<'_>) {
        self.rows.record(row);
    }

    fn packet(&mut self, row: &PacketRow<'_>) {
        self.rows.packet(row);
    }

    fn segment(&mut self, row: &SegmentRow<'_>) {
        self.rows.segment(row);
    }
}
