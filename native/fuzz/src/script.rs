//! The decisions of an input.

/// Bytes that decide what is done, one after the other; behind the last one all decisions are 0.
#[derive(Clone, Copy, Debug)]
pub struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    pub fn new(input: &'a [u8]) -> Script<'a> {
        Script(input)
    }

    pub fn byte(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    pub fn short(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    pub fn long(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::from(self.byte()) % of.len()]
    }

    /// So many bytes, or those that are left.
    pub fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// All bytes that decided nothing.
    pub fn rest(self) -> &'a [u8] {
        self.0
    }

    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    fn array<const SIZE: usize>(&mut self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        let taken = self.take(SIZE);
        bytes[..taken.len()].copy_from_slice(taken);
        bytes
    }
}
