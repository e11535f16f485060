//! What is asked for: tables, columns and filters.

use std::collections::HashMap;
use std::sync::Arc;

use netdiag_wire::exchange::Places;
use netdiag_wire::folds::Selection;
use netdiag_wire::options::{Options, Table, Wanted};
use netdiag_wire::rows::Shape;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::shapes::{shape_of, table_of};

/// As a dict has it, with all of these keys; for what they mean see `ReadOptions` in `netdiag.traffic.native`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    /// Those wanted, each with the names of the columns wanted or None for all.
    tables: HashMap<String, Option<Vec<String>>>,
    /// Of times in Arrow: "ns" or "us".
    unit: String,
    /// Nanoseconds since 1970 UTC.
    since: Option<i64>,
    until: Option<i64>,
    flow_class: (u32, u32),
    ports: Vec<u16>,
    clients: Vec<String>,
    brokers: Vec<String>,
    topics: Vec<String>,
    /// Names by address.
    hosts: HashMap<String, String>,
    /// Name and listener by address:port.
    endpoints: HashMap<String, (String, Option<String>)>,
    max_connections: Option<usize>,
    all_sightings: bool,
    /// What is folded, if anything.
    folded: Option<FoldsAsked>,
}

/// As a dict has it, with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct FoldsAsked {
    /// The numbers of the connections whose rows are left out.
    without: Vec<i64>,
    /// Of topics by ids.
    names: HashMap<String, String>,
    /// Their names.
    folds: Vec<String>,
}

impl Asked {
    /// For the engine.
    pub fn options(self) -> PyResult<(Options, Vec<Shape>)> {
        let shape = |(name, columns): (&String, &Option<Vec<String>>)| shape_of(name, columns.as_deref(), &self.unit);
        let shapes = self.tables.iter().map(shape).collect::<PyResult<Vec<Shape>>>()?;
        let wanted = self.tables.keys().map(|name| table_of(name));
        let mut wanted = wanted.collect::<PyResult<Vec<Table>>>()?;
        if self.folded.is_some() {
            wanted.extend([Table::Exchanges, Table::Partitions, Table::Batches]);
        }
        if self.flow_class.0 >= self.flow_class.1 {
            return Err(PyValueError::new_err("flow_class is (k, n) with k below n"));
        }
        let options = Options {
            tables: Wanted::of(&wanted),
            flow_class: self.flow_class,
            ports: self.ports.into_iter().collect(),
            clients: self.clients.into_iter().collect(),
            brokers: self.brokers.into_iter().collect(),
            topics: self.topics.into_iter().collect(),
            max_connections: self.max_connections.unwrap_or(Options::default().max_connections),
            all_sightings: self.all_sightings,
            folded: self.folded.map(|asked| {
                Arc::new(Selection {
                    without: asked.without.into_iter().collect(),
                    names: asked.names.into_iter().collect(),
                    folds: asked.folds.into_iter().collect(),
                })
            }),
            places: Places {
                hosts: self.hosts.into_iter().collect(),
                ports: self.endpoints.into_iter().collect(),
            },
            since: self.since,
            until: self.until,
        };
        Ok((options, shapes))
    }
}
