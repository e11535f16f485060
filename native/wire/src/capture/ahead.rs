//! Reading in a thread of its own, a piece or two ahead of whoever takes the packets.

use std::io;
use std::panic;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::vec;

use super::captures::Captures;
use super::piece::Chunk;
use super::refusal::Refused;

/// So many chunks at most are handed over at a time, where files overlap and make small ones.
const MOST_CHUNKS: usize = 512;

/// Captures that another thread reads.
#[derive(Debug)]
pub struct Ahead {
    receiver: Receiver<Result<Vec<Chunk>, Refused>>,
    thread: JoinHandle<Captures>,
    received: vec::IntoIter<Chunk>,
}

impl Ahead {
    /// Begins to read. `pieces`: how many may wait to be taken, besides the one that is being read.
    pub fn start(mut captures: Captures, pieces: usize) -> io::Result<Ahead> {
        let (sender, receiver) = sync_channel(pieces);
        let thread = Builder::new().name("reading".into()).spawn(move || {
            let mut chunks = Vec::new();
            loop {
                let next = captures.next_chunk();
                let is_end = !matches!(next, Ok(Some(_)));
                let failure = match next {
                    Ok(next) => {
                        chunks.extend(next);
                        None
                    }
                    Err(failure) => Some(failure),
                };
                // Nothing that is there waits for what must be read first.
                let is_due = is_end || !captures.is_ready() || chunks.len() >= MOST_CHUNKS;
                if is_due && !chunks.is_empty() && sender.send(Ok(std::mem::take(&mut chunks))).is_err() {
                    return captures;
                }
                if let Some(failure) = failure {
                    // Whoever is gone need not know.
                    let _ = sender.send(Err(failure));
                }
                if is_end {
                    return captures;
                }
            }
        })?;
        Ok(Ahead {
            receiver,
            thread,
            received: Vec::new().into_iter(),
        })
    }

    /// As [`Captures::next_chunk`].
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>, Refused> {
        loop {
            if let Some(chunk) = self.received.next() {
                return Ok(Some(chunk));
            }
            match self.receiver.recv() {
                Ok(chunks) => self.received = chunks?.into_iter(),
                Err(_) => return Ok(None),
            }
        }
    }

    /// What was read, with what became of each file. Before the end this waits for the read that is under way.
    pub fn finish(self) -> Captures {
        drop(self.receiver);
        self.thread.join().unwrap_or_else(|cause| panic::resume_unwind(cause))
    }
}
