//! What tells connections apart.

use std::hash::{BuildHasher, Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr};

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::packet::{Context, Ends};

/// Both ends of a segment as its sender sees them, cheap to compare and to hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Ends", into = "Ends")]
pub struct Key(Form<Ends>);

/// A key where very many are kept: what is not IPv4 without context lies elsewhere.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Ends", into = "Ends")]
pub struct KeptKey(Form<Box<Ends>>);

/// The same ends have always the same form.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form<E> {
    /// IPv4 without context: of addresses and ports each the source in the upper half.
    Version4 {
        addresses: u64,
        ports: u32,
    },
    General(E),
}

impl Key {
    /// The key of these ends.
    #[inline]
    pub fn new(source: IpAddr, destination: IpAddr, source_port: u16, destination_port: u16, context: &[u8]) -> Key {
        match (source, destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) if context.is_empty() => {
                Key::version4(source.to_bits(), destination.to_bits(), source_port, destination_port)
            }
            _ => Key(Form::General(Ends {
                source,
                destination,
                source_port,
                destination_port,
                context: Context::from_slice(context),
            })),
        }
    }

    /// The key of ends that are IPv4, without context.
    #[inline]
    pub(super) fn version4(source: u32, destination: u32, source_port: u16, destination_port: u16) -> Key {
        Key(Form::Version4 {
            addresses: u64::from(source) << 32 | u64::from(destination),
            ports: u32::from(source_port) << 16 | u32::from(destination_port),
        })
    }

    /// The key of the other direction.
    #[inline]
    pub fn reversed(&self) -> Key {
        Key(match &self.0 {
            Form::Version4 { addresses, ports } => Form::Version4 {
                addresses: addresses.rotate_left(32),
                ports: ports.rotate_left(16),
            },
            Form::General(ends) => Form::General(Ends {
                source: ends.destination,
                destination: ends.source,
                source_port: ends.destination_port,
                destination_port: ends.source_port,
                context: ends.context.clone(),
            }),
        })
    }

    /// The same for both directions.
    #[inline]
    pub fn hash_both_ways(&self, hasher: &impl BuildHasher) -> u64 {
        if let Form::Version4 { addresses, ports } = &self.0 {
            let source = (addresses >> 32) << 16 | u64::from(ports >> 16);
            let destination = (addresses & 0xFFFF_FFFF) << 16 | u64::from(ports & 0xFFFF);
            return hasher.hash_one((source.min(destination), source.max(destination)));
        }
        let [one, other] = self.ends();
        hasher.hash_one(one).wrapping_add(hasher.hash_one(other))
    }

    /// Address and port of both ends, the source first.
    #[inline]
    pub fn ends(&self) -> [(u128, u16); 2] {
        match &self.0 {
            Form::Version4 { addresses, ports } => [
                ((addresses >> 32).into(), (ports >> 16) as u16),
                ((addresses & 0xFFFF_FFFF).into(), *ports as u16),
            ],
            Form::General(ends) => [
                (bits(ends.source), ends.source_port),
                (bits(ends.destination), ends.destination_port),
            ],
        }
    }

    #[inline]
    pub fn source_port(&self) -> u16 {
        match &self.0 {
            Form::Version4 { ports, .. } => (ports >> 16) as u16,
            Form::General(ends) => ends.source_port,
        }
    }

    #[inline]
    pub fn destination_port(&self) -> u16 {
        match &self.0 {
            Form::Version4 { ports, .. } => *ports as u16,
            Form::General(ends) => ends.destination_port,
        }
    }

    pub fn source(&self) -> IpAddr {
        match &self.0 {
            Form::Version4 { addresses, .. } => Ipv4Addr::from_bits((addresses >> 32) as u32).into(),
            Form::General(ends) => ends.source,
        }
    }

    pub fn destination(&self) -> IpAddr {
        match &self.0 {
            Form::Version4 { addresses, .. } => Ipv4Addr::from_bits(*addresses as u32).into(),
            Form::General(ends) => ends.destination,
        }
    }

    /// The 4 or 16 bytes of the source.
    pub fn source_bytes(&self) -> SmallVec<[u8; 16]> {
        octets(self.source())
    }

    /// The 4 or 16 bytes of the destination.
    pub fn destination_bytes(&self) -> SmallVec<[u8; 16]> {
        octets(self.destination())
    }

    /// What the addresses are to be understood in, usually nothing (see [`Context`]).
    pub fn context(&self) -> &[u8] {
        match &self.0 {
            Form::Version4 { .. } => &[],
            Form::General(ends) => &ends.context,
        }
    }
}

impl KeptKey {
    /// Which side of this key sends what has that key: 0 its source, 1 its destination.
    #[inline]
    pub fn side_of(&self, key: &Key) -> Option<u8> {
        match (&self.0, &key.0) {
            (
                Form::Version4 { addresses, ports },
                Form::Version4 {
                    addresses: others,
                    ports: their_ports,
                },
            ) => {
                if addresses == others && ports == their_ports {
                    Some(0)
                } else {
                    (addresses.rotate_left(32) == *others && ports.rotate_left(16) == *their_ports).then_some(1)
                }
            }
            (Form::General(ends), Form::General(others)) => {
                if **ends == *others {
                    Some(0)
                } else {
                    (self.key().reversed() == *key).then_some(1)
                }
            }
            _ => None,
        }
    }

    pub fn key(&self) -> Key {
        Key(match &self.0 {
            Form::Version4 { addresses, ports } => Form::Version4 {
                addresses: *addresses,
                ports: *ports,
            },
            Form::General(ends) => Form::General((**ends).clone()),
        })
    }
}

impl From<Key> for KeptKey {
    fn from(key: Key) -> KeptKey {
        KeptKey(match key.0 {
            Form::Version4 { addresses, ports } => Form::Version4 { addresses, ports },
            Form::General(ends) => Form::General(Box::new(ends)),
        })
    }
}

impl From<Ends> for KeptKey {
    fn from(ends: Ends) -> KeptKey {
        Key::from(ends).into()
    }
}

impl From<KeptKey> for Ends {
    fn from(kept: KeptKey) -> Ends {
        kept.key().into()
    }
}

impl Hash for Key {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Form::Version4 { addresses, ports } => {
                state.write_u64(*addresses);
                state.write_u32(*ports);
            }
            Form::General(ends) => ends.hash(state),
        }
    }
}

impl From<Ends> for Key {
    fn from(ends: Ends) -> Key {
        Key::new(
            ends.source,
            ends.destination,
            ends.source_port,
            ends.destination_port,
            &ends.context,
        )
    }
}

impl From<Key> for Ends {
    fn from(key: Key) -> Ends {
        Ends {
            source: key.source(),
            destination: key.destination(),
            source_port: key.source_port(),
            destination_port: key.destination_port(),
            context: Context::from_slice(key.context()),
        }
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn octets(address: IpAddr) -> SmallVec<[u8; 16]> {
    match address {
        IpAddr::V4(address) => SmallVec::from_slice(&address.octets()),
        IpAddr::V6(address) => SmallVec::from_slice(&address.octets()),
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxBuildHasher;

    use super::*;

    fn keys() -> [Key; 4] {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        [
            Key::new(ip("10.0.0.7"), ip("172.16.0.2"), 40000, 9092, b""),
            Key::new(ip("10.0.0.7"), ip("172.16.0.2"), 40000, 9092, b"v\0\0\0\x05"),
            Key::new(ip("fd00::7"), ip("fd00::2"), 40000, 9092, b""),
            Key::new(
                ip("::ffff:10.0.0.7"),
                ip("::ffff:172.16.0.2"),
                40000,
                9092,
                b"x\0\0\0\x05v\0\0\0\x05n\0\0\0\x01",
            ),
        ]
    }

    #[test]
    fn a_key_says_its_ends() {
        let [plain, tagged, version6, _] = keys();
        assert_eq!((plain.source_port(), plain.destination_port()), (40000, 9092));
        assert_eq!(plain.source().to_string(), "10.0.0.7");
        assert_eq!(plain.destination().to_string(), "172.16.0.2");
        assert_eq!(plain.source_bytes().as_slice(), [10, 0, 0, 7]);
        assert_eq!(version6.destination_bytes().len(), 16);
        assert_eq!((plain.context(), tagged.context()), (&b""[..], &b"v\0\0\0\x05"[..]));
        assert_ne!(plain, tagged);
    }

    #[test]
    fn what_is_kept_of_a_key_is_small() {
        assert_eq!(size_of::<KeptKey>(), 16);
    }

    #[test]
    fn keys_turn_round_and_stay_the_same_as_ends() {
        for key in keys() {
            let back = key.reversed();
            assert_ne!(back, key);
            assert_eq!(
                (back.source(), back.source_port()),
                (key.destination(), key.destination_port())
            );
            assert_eq!((back.reversed(), back.context()), (key.clone(), key.context()));
            let kept = KeptKey::from(key.clone());
            assert_eq!(
                (kept.key(), kept.side_of(&key), kept.side_of(&back)),
                (key.clone(), Some(0), Some(1))
            );
            assert!(
                keys()
                    .iter()
                    .all(|other| *other == key || kept.side_of(other).is_none())
            );
            let same = Key::from(Ends::from(key.clone()));
            assert_eq!(same, key);
            assert_eq!(FxBuildHasher.hash_one(&same), FxBuildHasher.hash_one(&key));
        }
    }
}
