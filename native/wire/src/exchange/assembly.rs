//! From exchanges to rows.
//!
//! What only several exchanges together tell, which topic an id means and which offsets are in force in fetch sessions,
//! comes with them (see `lessons`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::details::Details;
use super::lessons::Names;
use super::losses::{Of, Sum};
use super::pairing::{Answer, Asked, Event, Exchange, Heard};
use super::payloads::{Carrier, Payloads, Room};
use super::places::{Named, host_of};
use super::row::{ExchangeRow, LossRow, RowSink, Strings};
use super::sessions::Offsets;
use super::topics::Topics;
use crate::facts::{Decoded, Topic};
use crate::kafka::api_name;
use crate::kafka::payloads::Unread;
use crate::options::{Options, Table};

/// Up to so many topics of an exchange are compared with each other.
const FEW: usize = 8;

/// What an exchange is part of.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub connection: i64,
    /// address:port
    pub client: &'a str,
    pub broker: &'a str,
    /// The client.id of the connection.
    pub client_id: Option<&'a str>,
    /// The file in which the connection begins.
    pub file: u32,
    /// The names of files, by the index that messages have.
    pub files: &'a BTreeMap<u32, String>,
}

/// Makes the rows of exchanges.
#[derive(Debug)]
pub struct Assembly {
    options: Options,
    topics: Topics,
    payloads: Payloads,
    texts: Strings,
}

impl Assembly {
    pub fn new(options: &Options, topics: Topics, room: Room) -> Assembly {
        Assembly {
            options: options.clone(),
            topics,
            payloads: Payloads::new(room),
            texts: Strings::default(),
        }
    }

    /// What addresses are called.
    pub fn name(&self, client: &str, broker: &str) -> Named<'_> {
        self.options.places.name(client, broker)
    }

    /// Remembers the names of topics; of an exchange, before its rows are made.
    pub fn learn(&mut self, names: &Names) {
        self.topics.learn(names);
    }

    /// How many bytes of the room for records the rows since the last time have.
    pub fn held(&mut self) -> u64 {
        self.payloads.held()
    }

    /// Whether rows of a connection with these ends, or of a request with this client.id, are wanted.
    pub fn is_wanted(&self, client: &str, broker: &str, client_id: Option<&str>) -> bool {
        let Options { clients, brokers, .. } = &self.options;
        let is_client = || {
            let names = [client_id.unwrap_or_default(), client, host_of(client)];
            names.into_iter().any(|name| clients.contains(name))
        };
        (clients.is_empty() || is_client())
            && (brokers.is_empty() || brokers.contains(broker) || brokers.contains(host_of(broker)))
    }

    /// Takes what a connection tells, the next of all in the order of the capture. `offsets`: those in force in its fetch
    /// session. What is not told in rows goes to `lose`.
    pub fn take(
        &mut self,
        context: &Context<'_>,
        event: &Event,
        offsets: Option<&Arc<Offsets>>,
        rows: &mut impl RowSink,
        lose: &mut impl FnMut(Sum),
    ) {
        match event {
            Event::Exchange(exchange) => self.exchange(context, exchange, offsets, rows, lose),
            Event::Heard(heard) => self.heard(context, heard, rows, lose),
        }
    }

    /// The rows of sums of losses.
    pub fn losses(sums: &[Sum], files: &BTreeMap<u32, String>, rows: &mut impl RowSink) {
        for Sum { of, time, bytes, times } in sums {
            rows.loss(&LossRow {
                file: files.get(&of.file).map_or("", String::as_str),
                time: *time,
                connection: of.connection,
                direction: of.is_request.map(direction),
                kind: &of.kind,
                bytes: i64::try_from(*bytes).unwrap_or(i64::MAX),
                times: i64::try_from(*times).unwrap_or(i64::MAX),
                detail: of.detail.as_deref(),
            });
        }
    }

    fn exchange(
        &mut self,
        context: &Context<'_>,
        exchange: &Exchange,
        offsets: Option<&Arc<Offsets>>,
        rows: &mut impl RowSink,
        lose: &mut impl FnMut(Sum),
    ) {
        let (asked, answer) = (exchange.asked.as_deref(), exchange.answer.as_ref());
        let said = answer.and_then(|answer| answer.facts.as_ref());
        let client_id = match asked {
            Some(asked) => asked.header.client_id.as_deref(),
            None => context.client_id,
        };
        if !self.is_wanted(context.client, context.broker, client_id) {
            return;
        }
        let has = |table| self.options.tables.has(table);
        if has(Table::Exchanges) || !self.options.topics.is_empty() {
            list_topics(&self.topics, asked, answer, &mut self.texts);
        }
        let wanted = &self.options.topics;
        if !wanted.is_empty() && !self.texts.list().iter().any(|topic| wanted.contains(topic)) {
            return;
        }
        if has(Table::Exchanges) {
            let named = self.options.places.name(context.client, context.broker);
            row_of(context, exchange, named, &self.texts, rows);
        }
        let Some(asked) = asked else { return };
        let details = Details {
            connection: context.connection,
            client: context.client,
            broker: context.broker,
            asked,
            said,
            response_time: answer.map(|answer| answer.times.end_time),
            topics: &self.topics,
        };
        if has(Table::Partitions) {
            details.partitions(offsets, rows);
        }
        if has(Table::Batches) {
            details.batches(rows);
        }
        if has(Table::GroupEvents) {
            details.group_event(rows);
        }
        if has(Table::Endpoints) {
            details.endpoints(rows);
        }
        if has(Table::Leaders) {
            details.leaders(rows);
        }
        if has(Table::Records)
            && let Some(said) = said
        {
            let carrier = Carrier {
                connection: context.connection,
                header: &asked.header,
                time: asked.times.end_time,
                decoded: said.both.decoded,
                record_bytes: said.both.record_bytes.unwrap_or(0),
                pieces: &said.both.pieces,
                is_request: false,
            };
            self.records(context, &carrier, rows, lose);
        }
    }

    /// A request with records has come; its response is not there yet.
    fn heard(&mut self, context: &Context<'_>, heard: &Heard, rows: &mut impl RowSink, lose: &mut impl FnMut(Sum)) {
        if self.is_wanted(context.client, context.broker, heard.header.client_id.as_deref()) {
            let carrier = Carrier {
                connection: context.connection,
                header: &heard.header,
                time: heard.time,
                decoded: heard.decoded,
                record_bytes: heard.record_bytes,
                pieces: &heard.pieces,
                is_request: true,
            };
            self.records(context, &carrier, rows, lose);
        }
    }

    fn records(
        &mut self,
        context: &Context<'_>,
        carrier: &Carrier<'_>,
        rows: &mut impl RowSink,
        lose: &mut impl FnMut(Sum),
    ) {
        let mut lose = |unread: Unread| {
            lose(Sum {
                of: Of {
                    file: context.file,
                    connection: Some(context.connection),
                    is_request: Some(carrier.is_request),
                    kind: unread.kind.into(),
                    detail: Some(unread.detail.into()),
                },
                time: Some(carrier.time),
                bytes: unread.bytes,
                times: 1,
            });
        };
        self.payloads
            .add(carrier, &self.topics, &self.options.topics, rows, &mut lose);
    }
}

/// Which way bytes travelled, as the column `direction` has it.
fn direction(is_request: bool) -> &'static str {
    if is_request { "request" } else { "response" }
}

/// The topics of both messages, each once.
fn list_topics(topics: &Topics, asked: Option<&Asked>, answer: Option<&Answer>, texts: &mut Strings) {
    texts.clear();
    let Some(asked) = asked else { return };
    let said = answer.and_then(|answer| answer.facts.as_ref());
    let (asked, said) = (&asked.facts.both.topics, said.map_or(&[][..], |said| &said.both.topics));
    let all = || asked.iter().chain(said);
    if asked.len() + said.len() <= FEW {
        let mut seen: [Option<&Topic>; FEW] = [None; FEW];
        for (at, topic) in all().enumerate() {
            let is_new = !seen[..at].contains(&Some(topic));
            seen[at] = Some(topic);
            // Names that are told twice by different words: as a name, and by an id.
            let shown = topics.shown(topic);
            if is_new && !texts.list().iter().any(|text| text == shown) {
                texts.push(&shown);
            }
        }
    } else {
        let mut seen: foldhash::HashSet<Cow<'_, str>> = Default::default();
        for topic in all() {
            let shown = topics.shown(topic);
            if seen.insert(shown.clone()) {
                texts.push(&shown);
            }
        }
    }
}

/// The row of `exchanges`.
fn row_of(context: &Context<'_>, exchange: &Exchange, named: Named<'_>, topics: &Strings, rows: &mut impl RowSink) {
    let (asked, answer) = (exchange.asked.as_deref(), exchange.answer.as_ref());
    let Some(times) = asked.map(|it| it.times).or(answer.map(|it| it.times)) else {
        return;
    };
    let (facts, said) = (asked.map(|it| &it.facts), answer.and_then(|it| it.facts.as_ref()));
    let both = facts.map(|facts| &facts.both);
    let since = |time: i64| time.saturating_sub(times.end_time) as f64 / 1e6;
    let carrier = match both {
        Some(both) if both.records.is_some() || both.record_bytes.is_some() => Some(both),
        _ => said.map(|said| &said.both),
    };
    let decoded = match (both, said) {
        (Some(both), Some(said)) => both.decoded.max(said.both.decoded),
        (Some(both), None) => both.decoded,
        (None, _) => Decoded::Header,
    };
    let name = asked.map(|it| api_name(it.header.api_key));
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    rows.exchange(&ExchangeRow {
        time: times.end_time,
        client: context.client,
        broker: context.broker,
        api_key: asked.map(|it| it.header.api_key),
        api_name: name.as_deref(),
        api_version: asked.map(|it| it.header.api_version),
        correlation_id: asked
            .map(|it| it.header.correlation_id)
            .or(answer.map(|it| it.correlation_id))
            .unwrap_or(0),
        client_id: asked.and_then(|it| it.header.client_id.as_deref()),
        request_bytes: asked.map(|it| it.size.into()),
        response_bytes: answer.map(|it| it.size.into()),
        latency_ms: asked.and(answer).map(|it| since(it.times.end_time)),
        error_code: said.and_then(|said| said.error_code),
        topics: topics.some(),
        group: both.and_then(|both| both.group.as_deref()),
        decoded: decoded.as_str(),
        outcome: exchange.outcome.as_str(),
        response_time: answer.map(|it| it.times.end_time),
        service_ms: asked.and(answer).map(|it| since(it.times.start_time)),
        wait_ms: facts.and_then(|facts| facts.wait_ms),
        empty: said.and_then(|said| said.empty),
        throttle_ms: said.and_then(|said| said.throttle_ms),
        acks: facts.and_then(|facts| facts.acks),
        records: carrier.and_then(|it| it.records),
        record_bytes: carrier.and_then(|it| it.record_bytes),
        transactional_id: both.and_then(|both| both.transactional_id.as_deref()),
        replica_id: facts.and_then(|facts| facts.replica_id),
        client_name: named.client,
        broker_name: named.broker,
        listener: named.listener,
        connection: context.connection,
        request_packet: asked.map(|it| number(it.times.end_number)),
        response_packet: answer.map(|it| number(it.times.end_number)),
        file: context.files.get(&times.file).map_or("", String::as_str),
        committed: facts.and_then(|facts| facts.committed),
    });
}
