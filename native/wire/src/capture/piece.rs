//! Pieces of files with the packets in them, handed from thread to thread and used again when nobody needs them.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use crate::packet::Packet;

/// So many bytes are read at a time: few enough that they are still in the cache of a core when their packets are
/// decoded.
pub const PIECE: usize = 512 * 1024;
/// What is kept for later: so many pieces, none of which grew larger than this.
const MOST_KEPT: usize = 32;
const LARGEST_KEPT: usize = 2 * 1024 * 1024;

/// Buffers that were used and can be used again; a clone is the same pool.
#[derive(Clone, Debug, Default)]
pub struct Pool(Arc<Mutex<Vec<Buffers>>>);

/// What a piece is made of: bytes that are always initialised, and room for packets.
type Buffers = (Vec<u8>, Vec<Packet>);

impl Pool {
    /// A piece of at least so many bytes, of any content, and without packets.
    pub(super) fn take(&self, size: usize) -> Piece {
        let (mut bytes, packets) = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
            .unwrap_or_default();
        if bytes.len() < size {
            bytes.resize(size, 0);
        }
        Piece {
            bytes,
            packets,
            pool: self.clone(),
        }
    }

    /// A chunk of other packets, whose offsets count in these bytes.
    pub(super) fn chunk(&self, content: &[u8], packets: &[Packet]) -> Chunk {
        let mut piece = self.take(content.len());
        piece.bytes[..content.len()].copy_from_slice(content);
        piece.packets.extend_from_slice(packets);
        Chunk::new(Arc::new(piece), 0, packets.len())
    }

    fn give(&self, (bytes, mut packets): Buffers) {
        if bytes.is_empty() || bytes.len() > LARGEST_KEPT {
            return;
        }
        packets.clear();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST_KEPT {
            kept.push((bytes, packets));
        }
    }
}

/// Contiguous bytes of one file that hold whole packets; its buffers go back to their pool when it is dropped.
#[derive(Debug)]
pub struct Piece {
    pub(super) bytes: Vec<u8>,
    pub(super) packets: Vec<Packet>,
    pool: Pool,
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.pool
            .give((mem::take(&mut self.bytes), mem::take(&mut self.packets)));
    }
}

/// Packets that follow one another in a file and in the order of all files, and the piece that they lie in.
#[derive(Clone, Debug)]
pub struct Chunk {
    piece: Arc<Piece>,
    begin: usize,
    end: usize,
}

impl Chunk {
    /// Those packets of a piece; none where it has not so many.
    pub(super) fn new(piece: Arc<Piece>, begin: usize, end: usize) -> Chunk {
        Chunk { piece, begin, end }
    }

    /// Takes away the first packets, those before the first one that is later than `limit`; None where there are none,
    /// and where all are taken what is left has none.
    pub(super) fn take_until(&mut self, limit: i64) -> Option<Chunk> {
        let packets = self.packets();
        let count = packets
            .iter()
            .position(|packet| packet.time > limit)
            .unwrap_or(packets.len());
        let begin = self.begin;
        self.begin += count;
        (count > 0).then(|| Chunk {
            piece: Arc::clone(&self.piece),
            begin,
            end: self.begin,
        })
    }

    /// In their order, never none.
    pub fn packets(&self) -> &[Packet] {
        self.piece.packets.get(self.begin..self.end).unwrap_or_default()
    }

    /// What the offsets of the packets count in.
    pub fn bytes(&self) -> &[u8] {
        &self.piece.bytes
    }

    /// The bytes of one of its packets.
    pub fn data(&self, packet: &Packet) -> &[u8] {
        let begin = packet.offset as usize;
        begin
            .checked_add(packet.captured as usize)
            .and_then(|end| self.piece.bytes.get(begin..end))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_used_again_when_the_last_chunk_is_gone() {
        let pool = Pool::default();
        let mut piece = pool.take(100);
        piece.bytes[0] = 7;
        let address = piece.bytes.as_ptr();
        let piece = Arc::new(piece);
        let chunks = [Chunk::new(Arc::clone(&piece), 0, 0), Chunk::new(piece, 0, 0)];
        assert_ne!(pool.take(100).bytes.as_ptr(), address);
        drop(chunks);
        assert_eq!(pool.take(50).bytes.as_ptr(), address);
        drop(pool.take(LARGEST_KEPT + 1));
        assert!(pool.take(1).bytes.len() <= LARGEST_KEPT);
    }
}
