// SPDX-License-Identifier: MIT OR Apache-2.0
//! Places of connections: so many at once, and whose place a new one takes when all are taken.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// A connection's place, and whose turn it is to speak.
#[derive(Debug)]
pub struct Seat {
    turn: Mutex<Turn>,
    /// It has said something whole.
    spoken: AtomicBool,
    /// It waits for news, and counts for nobody.
    parked: AtomicBool,
    leave: Notify,
}

#[derive(Clone, Copy, Debug)]
enum Turn {
    /// The caller's, since then.
    Theirs(Instant),
    Ours,
}

/// While it lives, the caller waits for an answer and keeps his place.
pub struct Answering<'a>(&'a Seat);

/// While it lives, the caller waits for news and takes no place.
pub struct Parked<'a>(&'a Seat);

impl Seat {
    fn new() -> Arc<Self> {
        let turn = Mutex::new(Turn::Theirs(Instant::now()));
        let (spoken, parked, leave) = (false.into(), false.into(), Notify::new());
        Arc::new(Self { turn, spoken, parked, leave })
    }

    /// A whole request is here.
    pub fn answer(&self) -> Answering<'_> {
        *locked(&self.turn) = Turn::Ours;
        self.spoken.store(true, Ordering::Relaxed);
        Answering(self)
    }

    /// The caller waits for news.
    pub fn park(&self) -> Parked<'_> {
        self.parked.store(true, Ordering::Relaxed);
        Parked(self)
    }

    /// Resolves when another takes the place.
    pub async fn asked_to_leave(&self) {
        self.leave.notified().await;
    }

    fn silent_since(&self) -> Option<Instant> {
        match *locked(&self.turn) {
            Turn::Theirs(since) => Some(since),
            Turn::Ours => None,
        }
    }
}

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        *locked(&self.0.turn) = Turn::Theirs(Instant::now());
    }
}

impl Drop for Parked<'_> {
    fn drop(&mut self) {
        self.0.parked.store(false, Ordering::Relaxed);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The places that are taken.
#[derive(Debug)]
pub struct Seats {
    most: usize,
    /// Seats of callers that have said something whole are kept before those of callers that never did.
    speakers_first: bool,
    taken: Mutex<Vec<Arc<Seat>>>,
    changed: Notify,
}

impl Seats {
    /// Makes so many places; with `speakers_first` those that never spoke give way first.
    pub fn new(most: usize, speakers_first: bool) -> Self {
        Self { most, speakers_first, taken: Mutex::default(), changed: Notify::new() }
    }

    /// A place, if need be that of the caller who has been silent for longest.
    pub async fn take(&self) -> Arc<Seat> {
        loop {
            if let Some(seat) = self.try_take() {
                return seat;
            }
            self.changed.notified().await;
        }
    }

    fn try_take(&self) -> Option<Arc<Seat>> {
        let mut taken = locked(&self.taken);
        let counts = |seat: &Arc<Seat>| !seat.parked.load(Ordering::Relaxed);
        if taken.len() >= self.most && taken.iter().filter(|seat| counts(seat)).count() >= self.most
        {
            let silent = taken.iter().enumerate().filter(|(_, seat)| counts(seat));
            let silent = silent.filter_map(|(at, seat)| {
                let spoken = self.speakers_first && seat.spoken.load(Ordering::Relaxed);
                Some((spoken, seat.silent_since()?, at))
            });
            let (_, _, at) = silent.min()?;
            taken.swap_remove(at).leave.notify_one();
        }
        let seat = Seat::new();
        taken.push(Arc::clone(&seat));
        Some(seat)
    }

    /// The connection has ended.
    pub fn leave(&self, seat: &Arc<Seat>) {
        locked(&self.taken).retain(|other| !Arc::ptr_eq(other, seat));
        self.changed.notify_one();
    }

    /// Resolves when nobody is left.
    pub async fn empty(&self) {
        while !locked(&self.taken).is_empty() {
            self.changed.notified().await;
        }
    }
}
