//! Stages that threads go through in turn.
//!
//! What a thread carries goes through all stages with it, so it stays in the cache of its core; only what a stage knows
//! passes from core to core. A stage sees what is carried in its order, whoever carries it.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What one stage knows, and whose turn it is there.
#[derive(Debug)]
pub(super) struct Stage<T> {
    held: Mutex<Held<T>>,
    changed: Condvar,
    is_closed: AtomicBool,
}

#[derive(Debug)]
struct Held<T> {
    turn: u64,
    known: T,
}

/// A stage, as long as somebody is in it.
pub(super) struct Turn<'a, T> {
    held: MutexGuard<'a, Held<T>>,
    changed: &'a Condvar,
}

impl<T> Stage<T> {
    pub fn new(known: T) -> Stage<T> {
        Stage {
            held: Mutex::new(Held { turn: 0, known }),
            changed: Condvar::new(),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Waits until it is the turn of this number, from 0 on. None where the stage was closed, or a thread broke off in it.
    pub fn enter(&self, turn: u64) -> Option<Turn<'_, T>> {
        let mut held = self.held.lock().ok()?;
        while held.turn != turn && !self.is_closed.load(Ordering::Relaxed) {
            held = self.changed.wait(held).ok()?;
        }
        (held.turn == turn).then_some(Turn {
            held,
            changed: &self.changed,
        })
    }

    /// Whoever waits for a turn gets none any more.
    pub fn close(&self) {
        // Those that are about to wait see it, those that do are woken.
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_closed.store(true, Ordering::Relaxed);
        drop(held);
        self.changed.notify_all();
    }
}

impl<T> Turn<'_, T> {
    /// The next one may enter.
    pub fn leave(mut self) {
        self.held.turn += 1;
        drop(self.held);
        self.changed.notify_all();
    }
}

impl<T> Deref for Turn<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.held.known
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.held.known
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;

    #[test]
    fn threads_go_through_in_their_order() {
        let stage = Arc::new(Stage::new(Vec::new()));
        let threads = (0..4u64).map(|first| {
            let stage = Arc::clone(&stage);
            thread::spawn(move || {
                for turn in (first..400).step_by(4) {
                    let mut seen = stage.enter(turn).expect("it is open");
                    seen.push(turn);
                    seen.leave();
                }
            })
        });
        threads
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|it| it.join().expect("none breaks off"));
        assert!(stage.enter(400).expect("it is open").iter().copied().eq(0..400));
    }

    #[test]
    fn who_waits_is_let_go_when_it_closes() {
        let stage = Arc::new(Stage::new(()));
        let waiting = {
            let stage = Arc::clone(&stage);
            thread::spawn(move || stage.enter(1).is_none())
        };
        stage.close();
        assert!(waiting.join().expect("it does not break off"));
        let broken = Arc::clone(&stage);
        let broken = thread::spawn(move || {
            let _in_it = broken.enter(0);
            panic!("in a stage");
        });
        assert!(broken.join().is_err());
        assert!(stage.enter(0).is_none());
    }
}
