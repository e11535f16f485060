//! What was asked of name servers and what they answered: DNS over UDP, to the rows of `names`.
//!
//! Port 53 is DNS unless its bytes say otherwise. Elsewhere only a message that is a plain question to its last byte is
//! one, and what answers it: in a container, Docker leads what is sent to 127.0.0.11:53 to some port of its own, and
//! the capture shows that port in the question and 53 in the answer. So a question is known by who asked, its number,
//! and the name, whoever answers. A question that is seen on several interfaces counts once.

use std::fmt::Write;
use std::mem;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use compact_str::{CompactString, format_compact};
use serde::{Deserialize, Serialize};

use super::address::{endpoint_text, version6_text};
use crate::exchange::row;
use crate::ordered::Ordered;
use crate::packet::Datagram;

/// The result of a question without an answer.
pub const UNANSWERED: &str = "unanswered";
const PORT: u16 = 53;
/// Multicast DNS, LLMNR and NetBIOS look like it and ask no name server.
const OTHERS: [u16; 3] = [137, 5353, 5355];
const DOCKER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 11));
const HEADER: usize = 12;
const RESPONSE: u16 = 0x8000;
const OPCODE: u16 = 0x7800;
const RESERVED: u16 = 0x0040;
const RCODE: u16 = 0x000F;
const INTERNET: u16 = 1;
const A: u16 = 1;
const AAAA: u16 = 28;
const OPT: u16 = 41;
const LONGEST_LABEL: usize = 63;
const LONGEST_NAME: usize = 255;
const LEAST_POINTER: usize = 0xC0;
const MOST_ADDRESSES: usize = 64;
const MOST_WAITING: usize = 10_000;
const MOST_ANSWERED: usize = 4096;
const SECOND: i64 = 1_000_000_000;
/// What is asked again with the same number so soon is the same packet, seen elsewhere.
const AGAIN: i64 = SECOND / 2;
/// No resolver waits longer.
const PATIENCE: i64 = 30 * SECOND;

/// A row of `names`, as long as it waits to be taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NameRow {
    /// Nanoseconds since 1970 UTC.
    pub time: i64,
    pub client: CompactString,
    pub server: CompactString,
    pub name: CompactString,
    /// The column `type`.
    pub kind: CompactString,
    pub result: CompactString,
    /// None without an answer.
    pub addresses: Option<Addresses>,
    pub latency_ms: Option<f64>,
}

impl NameRow {
    /// As a row of the table.
    pub fn row(&self) -> row::NameRow<'_> {
        row::NameRow {
            time: self.time,
            client: &self.client,
            server: &self.server,
            name: &self.name,
            kind: &self.kind,
            result: &self.result,
            addresses: self.addresses.as_ref().map(Addresses::list),
            latency_ms: self.latency_ms,
        }
    }
}

/// The addresses of an answer as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addresses {
    text: String,
    ends: Vec<u32>,
}

impl Addresses {
    fn push(&mut self, address: &str) {
        self.text.push_str(address);
        self.ends.push(self.text.len() as u32);
    }

    /// Each address.
    pub fn list(&self) -> row::List<'_> {
        row::List {
            text: &self.text,
            ends: &self.ends,
        }
    }
}

/// What a question is known by.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Question {
    client: IpAddr,
    port: u16,
    number: u16,
    /// File and interface of a loopback, of which every namespace has one of its own.
    place: Option<(u32, u32)>,
}

impl Question {
    fn new(client: IpAddr, port: u16, number: u16, datagram: &Datagram<'_>) -> Question {
        let is_loopback = matches!(client, IpAddr::V4(address) if address.is_loopback());
        Question {
            client,
            port,
            number,
            place: is_loopback.then_some((datagram.file, datagram.interface)),
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Asked {
    time: i64,
    client: CompactString,
    server: CompactString,
    name: CompactString,
    kind: u16,
}

/// Pairs the questions and answers of all name servers; holds a bounded number of open questions.
///
/// The rows are to be drained after every batch of datagrams; they are part of the state that can be saved.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Names {
    waiting: Ordered<Question, Asked>,
    /// When, and of which name.
    answered: Ordered<Question, (i64, CompactString)>,
    rows: Vec<NameRow>,
}

impl Names {
    /// Takes the next datagram; whether it was DNS.
    pub fn push(&mut self, datagram: &Datagram<'_>) -> bool {
        let ports = [datagram.source_port, datagram.destination_port];
        if ports.iter().any(|port| OTHERS.contains(port)) {
            return false;
        }
        let Some(header) = Header::of(datagram.payload) else {
            return false;
        };
        let is_known = ports.contains(&PORT) || [datagram.source, datagram.destination].contains(&DOCKER);
        if header.flags & RESPONSE != 0 {
            let question = Question::new(datagram.destination, datagram.destination_port, header.number, datagram);
            if !is_known && !self.waiting.contains(&question) && !self.answered.contains(&question) {
                return false;
            }
            let Some((asked, position)) = header.question(datagram.payload) else {
                return false;
            };
            self.answer(question, datagram, &header, asked, position);
        } else {
            let Some((Some((name, kind)), position)) = header.question(datagram.payload) else {
                return false;
            };
            if !is_known && !header.is_plain(datagram.payload, position, kind) {
                return false;
            }
            let question = Question::new(datagram.source, datagram.source_port, header.number, datagram);
            self.ask(question, datagram, name, kind);
        }
        true
    }

    /// The rows since the last time.
    pub fn drain(&mut self) -> Vec<NameRow> {
        mem::take(&mut self.rows)
    }

    /// Nothing more comes: what waits was not answered.
    pub fn finish(&mut self) {
        while let Some(asked) = self.waiting.pop_first() {
            self.give_up(asked);
        }
    }

    fn ask(&mut self, question: Question, datagram: &Datagram<'_>, name: CompactString, kind: u16) {
        let time = datagram.time;
        if let Some(earlier) = self.waiting.get(&question) {
            let is_same = earlier.name == name && earlier.kind == kind;
            if is_same && time.abs_diff(earlier.time) < AGAIN.unsigned_abs() {
                return;
            }
            if let Some(earlier) = self.waiting.remove(&question) {
                self.give_up(earlier);
            }
        } else if let Some((answered, of)) = self.answered.get(&question)
            && *of == name
            && time.saturating_sub(*answered) < AGAIN
        {
            return;
        }
        let asked = Asked {
            time,
            client: endpoint_text(datagram.source, datagram.source_port),
            server: endpoint_text(datagram.destination, datagram.destination_port),
            name,
            kind,
        };
        self.waiting.insert(question, asked);
        while let Some(oldest) = self.waiting.first()
            && (self.waiting.len() > MOST_WAITING || time.saturating_sub(oldest.time) > PATIENCE)
        {
            if let Some(oldest) = self.waiting.pop_first() {
                self.give_up(oldest);
            }
        }
    }

    fn answer(
        &mut self,
        question: Question,
        datagram: &Datagram<'_>,
        header: &Header,
        repeated: Option<(CompactString, u16)>,
        position: usize,
    ) {
        let is_meant = |asked: &&Asked| match &repeated {
            Some((name, kind)) => (&asked.name, asked.kind) == (name, *kind),
            None => true,
        };
        let is_asked = self.waiting.get(&question).filter(is_meant).is_some();
        let asked = if is_asked { self.waiting.remove(&question) } else { None };
        let Some((name, kind)) = repeated.or_else(|| asked.as_ref().map(|asked| (asked.name.clone(), asked.kind)))
        else {
            return;
        };
        if asked.is_none() && self.answered.get(&question).is_some_and(|(_, of)| *of == name) {
            return;
        }
        self.answered.insert(question, (datagram.time, name.clone()));
        if self.answered.len() > MOST_ANSWERED {
            self.answered.pop_first();
        }
        self.rows.push(NameRow {
            time: asked.as_ref().map_or(datagram.time, |asked| asked.time),
            client: endpoint_text(datagram.destination, datagram.destination_port),
            server: endpoint_text(datagram.source, datagram.source_port),
            name,
            kind: type_text(kind),
            result: result_text(header.flags & RCODE),
            addresses: Some(addresses(datagram.payload, position, header.answers)),
            latency_ms: asked.map(|asked| datagram.time.saturating_sub(asked.time).max(0) as f64 / 1e6),
        });
    }

    fn give_up(&mut self, asked: Asked) {
        self.rows.push(NameRow {
            time: asked.time,
            client: asked.client,
            server: asked.server,
            name: asked.name,
            kind: type_text(asked.kind),
            result: CompactString::const_new(UNANSWERED),
            addresses: None,
            latency_ms: None,
        });
    }
}

/// The header of a message of DNS (RFC 1035) with at most one question.
struct Header {
    number: u16,
    flags: u16,
    has_question: bool,
    answers: u16,
    authorities: u16,
    additional: u16,
}

impl Header {
    fn of(payload: &[u8]) -> Option<Header> {
        let (halves, _) = payload.first_chunk::<HEADER>()?.as_chunks::<2>();
        let [number, flags, questions, answers, authorities, additional] =
            <[[u8; 2]; 6]>::try_from(halves).ok()?.map(u16::from_be_bytes);
        let is_query = questions <= 1 && flags & (OPCODE | RESERVED) == 0;
        is_query.then_some(Header {
            number,
            flags,
            has_question: questions == 1,
            answers,
            authorities,
            additional,
        })
    }

    /// The name and type of the question, if there is one, and where it ends; None where it is none of DNS.
    fn question(&self, payload: &[u8]) -> Option<(Option<(CompactString, u16)>, usize)> {
        if !self.has_question {
            return Some((None, HEADER));
        }
        // The fixed part first, which is cheap.
        let end = name_end(payload, HEADER)?;
        let [k1, k2, n1, n2] = *payload.get(end..)?.first_chunk()?;
        if u16::from_be_bytes([n1, n2]) != INTERNET {
            return None;
        }
        let name = name_text(payload.get(HEADER..end)?);
        Some((Some((name, u16::from_be_bytes([k1, k2]))), end + 4))
    }

    /// Whether a question is nothing else, to its last byte.
    fn is_plain(&self, payload: &[u8], position: usize, kind: u16) -> bool {
        self.answers == 0
            && self.authorities == 0
            && self.flags & RCODE == 0
            && type_name(kind).is_some()
            && ends(payload, position, self.additional)
    }
}

/// Where the name ends that stands whole at this place; a question points nowhere else.
fn name_end(payload: &[u8], begin: usize) -> Option<usize> {
    let mut position = begin;
    loop {
        let length = usize::from(*payload.get(position)?);
        position += 1;
        if length == 0 {
            return Some(position);
        }
        if length > LONGEST_LABEL || position + length > payload.len() || position - begin > LONGEST_NAME {
            return None;
        }
        position += length;
    }
}

/// The text of a whole name, in lower case and as in a zone file: what cannot be printed, and dots, as three digits.
fn name_text(mut labels: &[u8]) -> CompactString {
    let mut text = CompactString::default();
    while let [length, rest @ ..] = labels
        && *length != 0
    {
        let (label, behind) = rest.split_at_checked(usize::from(*length)).unwrap_or((rest, &[]));
        if !text.is_empty() {
            text.push('.');
        }
        // By Latin-1, as whose letters bytes are made small as well.
        for character in label.iter().flat_map(|byte| char::from(*byte).to_lowercase()) {
            match character {
                '.' | '\\' => push_digits(&mut text, character),
                '!'..='~' => text.push(character),
                _ => push_digits(&mut text, character),
            }
        }
        labels = behind;
    }
    if text.is_empty() {
        text.push('.');
    }
    text
}

fn push_digits(text: &mut CompactString, character: char) {
    // Writing to a string does not fail.
    let _ = write!(text, "\\{:03}", u32::from(character));
}

/// The addresses among the first `count` records, as far as they are there.
fn addresses(payload: &[u8], mut position: usize, count: u16) -> Addresses {
    let mut found = Addresses::default();
    for _ in 0..count {
        position = behind_name(payload, position);
        let Some((kind, length)) = record(payload, position) else {
            break;
        };
        if found.ends.len() == MOST_ADDRESSES {
            break;
        }
        position += RECORD;
        let data = payload.get(position..position + length).unwrap_or_default();
        match (kind, data) {
            (A, &[a, b, c, d]) => found.push(&format_compact!("{a}.{b}.{c}.{d}")),
            (AAAA, data) => {
                if let Ok(octets) = <[u8; 16]>::try_from(data) {
                    found.push(&version6_text(Ipv6Addr::from(octets)));
                }
            }
            _ => {}
        }
        position += length;
    }
    found
}

/// Bytes of a record between its name and its data.
const RECORD: usize = 10;

/// Type and length of the data of a record behind its name.
fn record(payload: &[u8], position: usize) -> Option<(u16, usize)> {
    let [k1, k2, _, _, _, _, _, _, l1, l2] = *payload.get(position..)?.first_chunk::<RECORD>()?;
    Some((u16::from_be_bytes([k1, k2]), usize::from(u16::from_be_bytes([l1, l2]))))
}

/// Where a name ends, without looking where it points; the end of the payload where it does not.
fn behind_name(payload: &[u8], mut position: usize) -> usize {
    while let Some(length) = payload.get(position) {
        match usize::from(*length) {
            0 => return position + 1,
            LEAST_POINTER.. => return position + 2,
            length @ 1..=LONGEST_LABEL => position += 1 + length,
            _ => break,
        }
    }
    payload.len()
}

/// Whether a question ends here, or with the options of EDNS (RFC 6891).
fn ends(payload: &[u8], position: usize, additional: u16) -> bool {
    match (additional, payload.get(position), record(payload, position + 1)) {
        (0, ..) => position == payload.len(),
        (1, Some(0), Some((OPT, length))) => position + 1 + RECORD + length == payload.len(),
        _ => false,
    }
}

fn type_name(kind: u16) -> Option<&'static str> {
    Some(match kind {
        1 => "A",
        2 => "NS",
        5 => "CNAME",
        6 => "SOA",
        12 => "PTR",
        15 => "MX",
        16 => "TXT",
        28 => "AAAA",
        33 => "SRV",
        35 => "NAPTR",
        64 => "SVCB",
        65 => "HTTPS",
        255 => "ANY",
        _ => return None,
    })
}

fn type_text(kind: u16) -> CompactString {
    type_name(kind).map_or_else(|| format_compact!("TYPE({kind})"), CompactString::const_new)
}

fn result_text(code: u16) -> CompactString {
    CompactString::const_new(match code {
        0 => "NOERROR",
        1 => "FORMERR",
        2 => "SERVFAIL",
        3 => "NXDOMAIN",
        4 => "NOTIMP",
        5 => "REFUSED",
        _ => return format_compact!("RCODE({code})"),
    })
}
