//! The bytes of a direction that are not framed yet, with their holes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Bytes of a stream in order: `kept` of `length`; a `gap` is in no packet of the capture.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Piece {
    /// Where it begins; of use only while it is [`Unframed`].
    pub start: u64,
    pub kept: Vec<u8>,
    pub length: u64,
    pub time: i64,
    pub number: u64,
    pub file: u32,
    pub gap: bool,
}

impl Piece {
    /// Whether all of its bytes are there.
    pub fn is_whole(&self) -> bool {
        self.kept.len() as u64 == self.length
    }
}

/// Pieces in order; positions count on over everything that was ever added.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Unframed {
    pub pieces: Vec<Piece>,
    /// Bytes kept.
    pub bytes: usize,
    /// The position behind the last piece.
    pub end: u64,
}

impl Unframed {
    /// The next piece.
    pub fn add(&mut self, mut piece: Piece) {
        piece.start = self.end;
        self.end += piece.length;
        self.bytes += piece.kept.len();
        self.pieces.push(piece);
    }

    /// The position of the first byte that is still here; `None` where there is none.
    pub fn first(&self) -> Option<u64> {
        self.pieces.first().map(|piece| piece.start)
    }

    /// The piece that a position lies in, the last one for positions behind it, and its index.
    pub fn piece(&self, position: u64) -> Option<(usize, &Piece)> {
        let index = self
            .pieces
            .partition_point(|piece| piece.start <= position)
            .checked_sub(1)?;
        Some((index, self.pieces.get(index)?))
    }

    /// The bytes from a position on, as many as there are without a hole, at most so many.
    pub fn peek(&self, position: u64, count: usize) -> Cow<'_, [u8]> {
        let Some((index, piece)) = self.piece(position) else {
            return Cow::Borrowed(&[]);
        };
        let first = behind(&piece.kept, position - piece.start);
        if first.len() >= count || !piece.is_whole() {
            return Cow::Borrowed(&first[..first.len().min(count)]);
        }
        let mut out = first.to_vec();
        for piece in &self.pieces[index + 1..] {
            let wanted = count - out.len();
            out.extend_from_slice(&piece.kept[..piece.kept.len().min(wanted)]);
            if out.len() >= count || !piece.is_whole() {
                break;
            }
        }
        Cow::Owned(out)
    }

    /// Part the pieces at a position, and forget them; positions count on.
    pub fn cut(&mut self, position: u64) -> (Vec<Piece>, Vec<Piece>) {
        let mut before = std::mem::take(&mut self.pieces);
        self.bytes = 0;
        if position >= self.end {
            return (before, Vec::new());
        }
        let index = before
            .partition_point(|piece| piece.start <= position)
            .saturating_sub(1);
        let mut after = before.split_off(index.min(before.len()));
        if let Some(piece) = after.first_mut()
            && position > piece.start
        {
            let offset = (position - piece.start).min(piece.length);
            let rest = behind(&piece.kept, offset).to_vec();
            let mut first = std::mem::replace(
                piece,
                Piece {
                    start: position,
                    kept: rest,
                    length: piece.length - offset,
                    ..*piece
                },
            );
            first.kept.truncate(usize::try_from(offset).unwrap_or(usize::MAX));
            first.length = offset;
            before.push(first);
        }
        (before, after)
    }

    /// Forget the older half of the pieces.
    pub fn drop_half(&mut self) -> Vec<Piece> {
        let old: Vec<Piece> = self.pieces.drain(..self.pieces.len().div_ceil(2)).collect();
        self.bytes = self
            .bytes
            .saturating_sub(old.iter().map(|piece| piece.kept.len()).sum());
        old
    }

    /// Whether the pieces follow each other and are what their sums say.
    pub fn is_sound(&self) -> bool {
        let follow = self
            .pieces
            .windows(2)
            .all(|pair| pair[0].start.checked_add(pair[0].length) == Some(pair[1].start));
        let ends = self
            .pieces
            .last()
            .is_none_or(|last| last.start.checked_add(last.length) == Some(self.end));
        let kept = self
            .pieces
            .iter()
            .all(|piece| piece.length > 0 && piece.kept.len() as u64 <= piece.length);
        follow && ends && kept && self.end < 1 << 62 && self.bytes == self.pieces.iter().map(|it| it.kept.len()).sum()
    }
}

/// The bytes behind the first so many, which may be more than there are.
pub(super) fn behind(bytes: &[u8], count: u64) -> &[u8] {
    usize::try_from(count)
        .ok()
        .and_then(|count| bytes.get(count..))
        .unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(pieces: &[(&[u8], u64)]) -> Unframed {
        let mut out = Unframed::default();
        for &(kept, length) in pieces {
            out.add(Piece {
                start: 0,
                kept: kept.to_vec(),
                length,
                time: 0,
                number: 0,
                file: 0,
                gap: false,
            });
        }
        assert!(out.is_sound());
        out
    }

    #[test]
    fn peek_joins_pieces_up_to_a_hole() {
        let it = stream(&[(b"abc", 3), (b"def", 5), (b"gh", 2)]);
        assert_eq!(&*it.peek(1, 100), b"bcdef");
        assert_eq!(&*it.peek(1, 3), b"bcd");
        assert_eq!(&*it.peek(6, 10), b"");
        assert_eq!(&*it.peek(8, 10), b"gh");
        assert_eq!(&*it.peek(99, 10), b"");
    }

    #[test]
    fn cut_in_a_piece() {
        let mut it = stream(&[(b"abc", 3), (b"def", 5)]);
        let (before, after) = it.cut(4);
        let parts = |pieces: &[Piece]| pieces.iter().map(|it| (it.kept.clone(), it.length)).collect::<Vec<_>>();
        assert_eq!(parts(&before), [(b"abc".to_vec(), 3), (b"d".to_vec(), 1)]);
        assert_eq!(parts(&after), [(b"ef".to_vec(), 4)]);
        assert!(it.pieces.is_empty());
        assert_eq!(it.end, 8);
    }

    #[test]
    fn positions_count_on_when_the_older_half_is_dropped() {
        let mut it = stream(&[(b"abc", 3), (b"def", 5), (b"gh", 2)]);
        assert_eq!(
            it.drop_half()
                .iter()
                .map(|piece| piece.kept.as_slice())
                .collect::<Vec<_>>(),
            [b"abc", b"def"]
        );
        assert_eq!(&*it.peek(8, 10), b"gh");
        assert_eq!(it.bytes, 2);
    }
}
