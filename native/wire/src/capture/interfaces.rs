//! The names of interfaces, each with a number that is the same in all files.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use compact_str::CompactString;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// So many different names are told apart; a file can name as many as it likes.
const MOST_NAMES: usize = 65_536;

/// A table of names that all readers share: a clone is the same table. Number 0 is "", where a file does not say, and
/// what all names have that come when the table is full.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<CompactString>", into = "Vec<CompactString>")]
pub struct Interfaces(Arc<Mutex<Table>>);

#[derive(Debug)]
struct Table {
    names: Vec<CompactString>,
    ids: FxHashMap<CompactString, u32>,
}

impl Default for Table {
    fn default() -> Table {
        Table {
            names: vec!["".into()],
            ids: FxHashMap::from_iter([("".into(), 0)]),
        }
    }
}

impl Interfaces {
    /// The number of a name.
    pub fn id(&self, name: &str) -> u32 {
        let mut table = self.table();
        if let Some(&id) = table.ids.get(name) {
            return id;
        }
        if table.names.len() >= MOST_NAMES {
            return 0;
        }
        let id = table.names.len() as u32;
        table.names.push(name.into());
        table.ids.insert(name.into(), id);
        id
    }

    /// The name that has this number; "" for a number that none has.
    pub fn name(&self, id: u32) -> CompactString {
        self.table().names.get(id as usize).cloned().unwrap_or_default()
    }

    /// All names in the order of their numbers.
    pub fn names(&self) -> Vec<CompactString> {
        self.table().names.clone()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Vec<CompactString>> for Interfaces {
    fn from(names: Vec<CompactString>) -> Interfaces {
        let table = Interfaces::default();
        for name in &names {
            table.id(name);
        }
        table
    }
}

impl From<Interfaces> for Vec<CompactString> {
    fn from(table: Interfaces) -> Vec<CompactString> {
        table.names()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number_everywhere() {
        let table = Interfaces::default();
        let same = table.clone();
        assert_eq!(
            (table.id(""), table.id("eth0"), same.id("eth1"), same.id("eth0")),
            (0, 1, 2, 1)
        );
        assert_eq!(
            (table.name(2).as_str(), table.name(0).as_str(), table.name(9).as_str()),
            ("eth1", "", "")
        );
        let names: Vec<CompactString> = table.into();
        assert_eq!(Interfaces::from(names).id("eth1"), 2);
    }

    #[test]
    fn names_are_bounded() {
        let table = Interfaces::default();
        for index in 0..70_000 {
            table.id(&index.to_string());
        }
        assert_eq!(table.names().len(), MOST_NAMES);
        assert_eq!((table.id("5"), table.id("69999")), (6, 0));
    }
}
