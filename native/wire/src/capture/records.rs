//! What the formats of captures have in common.

use serde::{Deserialize, Serialize};

use super::account::{Account, Window};
use super::interfaces::Interfaces;
use crate::packet::Packet;

pub(super) const SECOND: i64 = 1_000_000_000;

/// Where a format puts what it finds.
pub(super) struct Sink<'a> {
    pub account: &'a mut Account,
    pub packets: &'a mut Vec<Packet>,
    pub interfaces: &'a Interfaces,
    pub window: Window,
    pub file: u32,
    /// Where the bytes that are read begin in their piece.
    pub base: usize,
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    /// Two bytes of `data`; 0 where they are not there.
    pub fn half(self, data: &[u8], at: usize) -> u16 {
        let bytes = data
            .get(at..)
            .and_then(<[u8]>::first_chunk)
            .copied()
            .unwrap_or_default();
        match self {
            Order::Little => u16::from_le_bytes(bytes),
            Order::Big => u16::from_be_bytes(bytes),
        }
    }

    /// Four bytes of `data`; 0 where they are not there.
    pub fn word(self, data: &[u8], at: usize) -> u32 {
        let bytes = data
            .get(at..)
            .and_then(<[u8]>::first_chunk)
            .copied()
            .unwrap_or_default();
        match self {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        }
    }

    /// Eight bytes of `data`; 0 where they are not there.
    pub fn long(self, data: &[u8], at: usize) -> u64 {
        let bytes = data
            .get(at..)
            .and_then(<[u8]>::first_chunk)
            .copied()
            .unwrap_or_default();
        match self {
            Order::Little => u64::from_le_bytes(bytes),
            Order::Big => u64::from_be_bytes(bytes),
        }
    }
}

/// The same for code that is made once for each order.
#[inline(always)]
pub(super) fn word<const BIG: bool>(head: &[u8], at: usize) -> u32 {
    if BIG {
        Order::Big.word(head, at)
    } else {
        Order::Little.word(head, at)
    }
}
