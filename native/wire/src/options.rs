//! What the engine is asked to do.

use std::sync::Arc;

use foldhash::HashSet;

use crate::exchange::Places;
use crate::folds::Selection;

/// The tables that the engine fills, in the order of `netdiag/traffic/tables.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    Exchanges,
    Partitions,
    Batches,
    GroupEvents,
    Endpoints,
    Leaders,
    Connections,
    Names,
    Losses,
    /// Keys and values, filled only where payloads are asked for.
    Records,
    /// What there is before any connection is known; filled only where no other table is asked for.
    Packets,
    Segments,
    /// What [`crate::storage`] fills, and no capture does.
    LogSegments,
    LogBatches,
    LogRecords,
    LogProblems,
    /// What is made of records by those who know their layouts.
    StoredRecords,
    CommittedOffsets,
}

impl Table {
    pub const ALL: [Table; 18] = [
        Table::Exchanges,
        Table::Partitions,
        Table::Batches,
        Table::GroupEvents,
        Table::Endpoints,
        Table::Leaders,
        Table::Connections,
        Table::Names,
        Table::Losses,
        Table::Records,
        Table::Packets,
        Table::Segments,
        Table::LogSegments,
        Table::LogBatches,
        Table::LogRecords,
        Table::LogProblems,
        Table::StoredRecords,
        Table::CommittedOffsets,
    ];

    /// As `tables.json` and the option `--table` call it.
    pub fn as_str(self) -> &'static str {
        match self {
            Table::Exchanges => "exchanges",
            Table::Partitions => "partitions",
            Table::Batches => "batches",
            Table::GroupEvents => "group_events",
            Table::Endpoints => "endpoints",
            Table::Leaders => "leaders",
            Table::Connections => "connections",
            Table::Names => "names",
            Table::Losses => "losses",
            Table::Records => "records",
            Table::Packets => "packets",
            Table::Segments => "segments",
            Table::LogSegments => "log_segments",
            Table::LogBatches => "log_batches",
            Table::LogRecords => "log_records",
            Table::LogProblems => "log_problems",
            Table::StoredRecords => "stored_records",
            Table::CommittedOffsets => "committed_offsets",
        }
    }

    /// The table of that name.
    pub fn of(name: &str) -> Option<Table> {
        Table::ALL.into_iter().find(|table| table.as_str() == name)
    }
}

/// A set of tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wanted(u32);

impl Wanted {
    /// These tables.
    pub fn of(tables: &[Table]) -> Wanted {
        Wanted(tables.iter().fold(0, |bits, table| bits | 1 << *table as u32))
    }

    /// All that connections tell, but records.
    pub fn all_but_records() -> Wanted {
        Wanted((1 << Table::Records as u32) - 1)
    }

    /// Whether a table is among them.
    pub fn has(self, table: Table) -> bool {
        self.0 & (1 << table as u32) != 0
    }
}

/// Which rows are wanted, of which connections. Empty filters let everything through.
#[derive(Clone, Debug)]
pub struct Options {
    pub tables: Wanted,
    /// (k, n): only connections whose number is k modulo n, so that n engines over the same packets share the work and
    /// give every row once.
    pub flow_class: (u32, u32),
    /// Only connections with one of these ports; empty means every TCP connection that turns out to speak Kafka.
    pub ports: HashSet<u16>,
    /// client.id, address or address:port of the client.
    pub clients: HashSet<String>,
    /// Address or address:port of the broker.
    pub brokers: HashSet<String>,
    /// Names of topics.
    pub topics: HashSet<String>,
    /// So many connections are held open at a time; the silent ones are let go first.
    pub max_connections: usize,
    /// A connection that is seen at several places is told once for each of them.
    pub all_sightings: bool,
    /// What addresses are called.
    pub places: Places,
    /// Where rows are folded, which of them.
    pub folded: Option<Arc<Selection>>,
    /// Packets before this time are counted and not read.
    pub since: Option<i64>,
    /// Packets from this time on are counted and not read.
    pub until: Option<i64>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            tables: Wanted::all_but_records(),
            flow_class: (0, 1),
            ports: HashSet::default(),
            clients: HashSet::default(),
            brokers: HashSet::default(),
            topics: HashSet::default(),
            max_connections: 131_072,
            all_sightings: false,
            places: Places::default(),
            folded: None,
            since: None,
            until: None,
        }
    }
}
