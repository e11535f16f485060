//! The layout of every Kafka message in every version.
//!
//! What stands in [`messages`](super::messages) is the same for all versions of a message; a [`Layout`] is one version
//! of it, made when it is met first and kept. Unknown api keys and versions are simply not there.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::messages::{APIS, PAIRS};

pub const PRODUCE: i16 = 0;
pub const FETCH: i16 = 1;
pub const CONTROLLED_SHUTDOWN: i16 = 7;
pub const FIND_COORDINATOR: i16 = 10;
pub const JOIN_GROUP: i16 = 11;
pub const API_VERSIONS: i16 = 18;
pub const CREATE_PARTITIONS: i16 = 37;
pub const SHARE_FETCH: i16 = 78;

/// The least size of a response: that of its correlation id.
pub const SMALLEST_RESPONSE: usize = 4;

/// First and last version.
type Versions = (i16, i16);

/// In all versions of the message.
pub(super) const ALL: Versions = (0, i16::MAX);

/// In no version.
pub(super) const NEVER: Versions = (1, 0);

/// Requests and responses of an api key; `first` counts the versions of the api keys before.
pub(super) struct Api {
    pub(super) name: &'static str,
    pub(super) first: usize,
    pub(super) versions: Versions,
    pub(super) request: Message,
    pub(super) response: Message,
}

/// A message over all versions; `flexible` are those with tagged fields and compact lengths (KIP-482).
pub(super) struct Message {
    pub(super) flexible: Versions,
    pub(super) fields: &'static [Entry],
}

/// A field over all versions: its name, its type, the versions that have it, those where it may be null, its tag, and
/// the fields inside.
pub(super) struct Entry(
    pub(super) &'static str,
    pub(super) Count,
    pub(super) Versions,
    pub(super) Versions,
    pub(super) Option<u32>,
    pub(super) &'static [Entry],
);

/// Whether a field is an array.
#[derive(Clone, Copy)]
pub(super) enum Count {
    One(Kind),
    Many(Kind),
}

/// The type of a field, or of an element of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int8,
    Int16,
    Uint16,
    Int32,
    Int64,
    Float64,
    Uuid,
    String,
    Bytes,
    Records,
    Struct,
}

impl Kind {
    /// In bytes; none where a value says its own length.
    pub(super) fn size(self) -> Option<usize> {
        match self {
            Kind::Bool | Kind::Int8 => Some(1),
            Kind::Int16 | Kind::Uint16 => Some(2),
            Kind::Int32 => Some(4),
            Kind::Int64 | Kind::Float64 => Some(8),
            Kind::Uuid => Some(16),
            Kind::String | Kind::Bytes | Kind::Records | Kind::Struct => None,
        }
    }
}

/// A field of one version of a message. `compact`: lengths are unsigned varints (KIP-482). `least` is the least number
/// of bytes that one element takes.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) array: bool,
    pub(super) compact: bool,
    pub(super) nullable: bool,
    pub(super) tag: Option<u32>,
    pub(super) least: usize,
    /// The fields inside of a struct; empty for all other kinds.
    pub(super) inside: Layout,
}

/// The fields of one version of a struct in their order on the wire, and apart from them those with a tag.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) fields: Vec<Field>,
    pub(super) tagged: Vec<Field>,
    pub(super) flexible: bool,
    /// The least number of bytes that it takes.
    pub(super) least: usize,
}

/// Whether Kafka has requests of this api key and version.
pub fn is_known(api_key: i16, api_version: i16) -> bool {
    position(api_key, api_version).is_some()
}

/// The name of an api key as Kafka spells it; of one that is not known `API_KEY(n)`.
pub fn api_name(api_key: i16) -> Cow<'static, str> {
    match api(api_key) {
        Some(api) => Cow::Borrowed(api.name),
        None => Cow::Owned(format!("API_KEY({api_key})")),
    }
}

/// The version of the header before a message body, if the message is known.
///
/// Two exceptions are Kafka's own: a ControlledShutdown request v0 has no client id (header 0), and an ApiVersions
/// response always has header 0, because its reader does not know yet what the broker speaks (KIP-511).
pub fn header_version(api_key: i16, api_version: i16, is_request: bool) -> Option<u8> {
    let api = api(api_key).filter(|api| covers(api.versions, api_version))?;
    let message = if is_request { &api.request } else { &api.response };
    let flexible = covers(message.flexible, api_version);
    Some(match (is_request, flexible) {
        (true, _) if api_key == CONTROLLED_SHUTDOWN && api_version == 0 => 0,
        (true, _) => 1 + u8::from(flexible),
        (false, _) => u8::from(flexible && api_key != API_VERSIONS),
    })
}

/// The least number of bytes that a message body takes; 0 if the message is not known.
pub fn least_size(api_key: i16, api_version: i16, is_request: bool) -> usize {
    layout(api_key, api_version, is_request).map_or(0, |layout| layout.least)
}

/// The least size of a whole response to a request of this api key and version.
///
/// A broker that does not know the version of an ApiVersions request answers in version 0.
pub fn least_response(api_key: i16, api_version: i16) -> usize {
    let version = if api_key == API_VERSIONS { 0 } else { api_version };
    match header_version(api_key, version, false) {
        Some(header) if is_known(api_key, api_version) => {
            SMALLEST_RESPONSE + usize::from(header) + least_size(api_key, version, false)
        }
        _ => SMALLEST_RESPONSE,
    }
}

/// Where an api key and version stand in a list of all of them.
pub(super) fn position(api_key: i16, api_version: i16) -> Option<usize> {
    let api = api(api_key).filter(|api| covers(api.versions, api_version))?;
    Some(api.first + usize::try_from(api_version - api.versions.0).ok()?)
}

/// The layout of a message body, if the message is known.
pub(super) fn layout(api_key: i16, api_version: i16, is_request: bool) -> Option<&'static Layout> {
    static LAYOUTS: [[OnceLock<Layout>; 2]; PAIRS] = [const { [const { OnceLock::new() }; 2] }; PAIRS];
    let api = api(api_key)?;
    let slot = LAYOUTS.get(position(api_key, api_version)?)?;
    let (slot, message) = if is_request {
        (&slot[0], &api.request)
    } else {
        (&slot[1], &api.response)
    };
    Some(slot.get_or_init(|| resolved(message.fields, api_version, covers(message.flexible, api_version))))
}

/// Every api key with every version.
pub fn all() -> impl Iterator<Item = (i16, i16)> {
    (0..)
        .zip(&APIS)
        .flat_map(|(key, api)| (api.versions.0..=api.versions.1).map(move |version| (key, version)))
}

fn api(api_key: i16) -> Option<&'static Api> {
    APIS.get(usize::try_from(api_key).ok()?)
}

fn covers(versions: Versions, version: i16) -> bool {
    versions.0 <= version && version <= versions.1
}

fn resolved(entries: &[Entry], version: i16, flexible: bool) -> Layout {
    let present = entries.iter().filter(|entry| covers(entry.2, version));
    let (tagged, fields): (Vec<Field>, Vec<Field>) = present
        .map(|entry| field(entry, version, flexible))
        .partition(|field| field.tag.is_some());
    let least = fields.iter().map(least_bytes).sum::<usize>() + usize::from(flexible);
    Layout {
        fields,
        tagged,
        flexible,
        least,
    }
}

fn field(entry: &Entry, version: i16, flexible: bool) -> Field {
    let &Entry(name, count, _, nullable, tag, fields) = entry;
    let (kind, array) = match count {
        Count::One(kind) => (kind, false),
        Count::Many(kind) => (kind, true),
    };
    let inside = if kind == Kind::Struct {
        resolved(fields, version, flexible)
    } else {
        Layout::default()
    };
    let least = match kind {
        Kind::Struct => inside.least,
        Kind::String | Kind::Bytes | Kind::Records if flexible => 1,
        Kind::String => 2,
        Kind::Bytes | Kind::Records => 4,
        fixed => fixed.size().unwrap_or_default(),
    };
    Field {
        name,
        kind,
        array,
        compact: flexible,
        nullable: covers(nullable, version),
        tag,
        least,
        inside,
    }
}

/// The least number of bytes of a whole field: an empty array, a null struct, an empty string.
fn least_bytes(field: &Field) -> usize {
    match field {
        Field {
            array: true, compact, ..
        } => {
            if *compact {
                1
            } else {
                4
            }
        }
        Field {
            kind: Kind::Struct,
            nullable: true,
            ..
        } => 1,
        _ => field.least,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known() {
        let cases = [
            (0, 0, true),
            (0, 13, true),
            (0, 14, false),
            (0, -1, false),
            (-1, 0, false),
            (94, 0, true),
        ];
        for (key, version, expected) in cases {
            assert_eq!(is_known(key, version), expected, "{key} {version}");
        }
        assert!(!is_known(i16::MAX, 0) && !is_known(i16::MIN, i16::MIN));
    }

    #[test]
    fn names() {
        assert_eq!(api_name(18), "ApiVersions");
        assert_eq!(api_name(900), "API_KEY(900)");
        assert_eq!(api_name(-1), "API_KEY(-1)");
    }

    #[test]
    fn versions_of_headers() {
        let cases = [
            (0, 8, true, Some(1)),
            (0, 9, true, Some(2)),
            (0, 8, false, Some(0)),
            (0, 9, false, Some(1)),
            (7, 0, true, Some(0)),
            (7, 1, true, Some(1)),
            (18, 3, true, Some(2)),
            (18, 3, false, Some(0)),
            (900, 0, true, None),
        ];
        for (key, version, is_request, expected) in cases {
            assert_eq!(
                header_version(key, version, is_request),
                expected,
                "{key} {version} {is_request}"
            );
        }
    }

    #[test]
    fn least_sizes() {
        // Produce v3: transactional id, acks, timeout, topics; v9 the same in compact, with tagged fields.
        assert_eq!(least_size(0, 3, true), 2 + 2 + 4 + 4);
        assert_eq!(least_size(0, 9, true), 1 + 2 + 4 + 1 + 1);
        assert_eq!(least_size(0, 99, true), 0);
        assert_eq!(least_response(18, 3), 4 + 2 + 4);
        assert_eq!(least_response(18, 99), 4);
        assert_eq!(least_response(12, 4), 4 + 1 + 4 + 2 + 1);
    }

    #[test]
    fn every_message_has_its_own_position() {
        let positions: Vec<usize> = all().map(|(key, version)| position(key, version).unwrap()).collect();
        assert_eq!(positions, (0..PAIRS).collect::<Vec<_>>());
    }

    /// A count is held against the bytes that are left, which bounds time only if every element takes some.
    #[test]
    fn no_element_of_an_array_is_nothing() {
        fn check(layout: &Layout) {
            for field in layout.fields.iter().chain(&layout.tagged) {
                assert!(!field.array || field.least > 0, "{}", field.name);
                check(&field.inside);
            }
        }
        for (key, version) in all() {
            for is_request in [true, false] {
                check(layout(key, version, is_request).unwrap());
            }
        }
    }
}
