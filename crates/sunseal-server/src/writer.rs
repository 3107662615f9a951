// SPDX-License-Identifier: MIT OR Apache-2.0
//! The one thread that writes to the database, and its grouped commits.
//!
//! Requests that come while a transaction goes to disk are the next transaction together: one
//! flush for all of them. Each has a savepoint of its own, so that one that fails takes back
//! nothing but itself, and each is answered only after the group is on disk.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use serde_json::json;
use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::{log, store};

/// Requests of one transaction at most.
const MAX_GROUP: usize = 256;

/// How the latest write went.
#[derive(Clone, Debug)]
pub struct LastWrite {
    /// When it was tried.
    pub tried: Instant,
    /// Why nothing could be written.
    pub fault: Option<String>,
}

/// Hands work to the writing thread.
pub struct Writer {
    jobs: Mutex<Option<Sender<Box<dyn Job>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    last: Arc<Mutex<LastWrite>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Work for the writing thread; what it gives back is told when its group is on disk.
trait Job: Send {
    fn time_us(&self) -> Option<u64>;
    fn work(&mut self, db: &Connection, now_us: u64) -> Result<(), Fault>;
    fn tell(self: Box<Self>, committed: Result<(), String>);
}

struct Task<T, F> {
    time_us: Option<u64>,
    work: Option<F>,
    done: Option<T>,
    teller: oneshot::Sender<Result<T, String>>,
}

/// Why a job, or a group, came to nothing.
struct Fault {
    why: String,
    /// The database is at fault, not what was asked of it.
    database: bool,
}

impl From<rusqlite::Error> for Fault {
    fn from(e: rusqlite::Error) -> Self {
        let database =
            e.sqlite_error_code().is_some_and(|code| code != ErrorCode::ConstraintViolation);
        Self { why: format!("the database refused ({e}); nothing was changed"), database }
    }
}

fn panicked(why: &(dyn Any + Send)) -> Fault {
    let said = why.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| why.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
    let why = format!("the request failed inside the server ({said}); nothing was changed");
    Fault { why, database: false }
}

impl<T, F> Job for Task<T, F>
where
    T: Send,
    F: FnOnce(&Connection, u64) -> rusqlite::Result<T> + Send,
{
    fn time_us(&self) -> Option<u64> {
        self.time_us
    }

    fn work(&mut self, db: &Connection, now_us: u64) -> Result<(), Fault> {
        let Some(work) = self.work.take() else { return Ok(()) };
        match catch_unwind(AssertUnwindSafe(|| work(db, now_us))) {
            Ok(done) => {
                self.done = Some(done?);
                Ok(())
            }
            Err(why) => Err(panicked(&*why)),
        }
    }

    fn tell(self: Box<Self>, committed: Result<(), String>) {
        let done = self.done.ok_or_else(|| "the request was not worked on".to_owned());
        // Whoever asked may have hung up.
        let _ = self.teller.send(committed.and(done));
    }
}

impl Writer {
    /// Starts the thread over an opened database.
    pub fn start(db: Connection, clock: Arc<Clock>) -> Self {
        let (sender, jobs) = channel();
        let last = Arc::new(Mutex::new(LastWrite { tried: Instant::now(), fault: None }));
        let told = Arc::clone(&last);
        let thread = std::thread::spawn(move || run(db, &jobs, &clock, &told));
        Self { jobs: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)), last }
    }

    /// Runs `work` in a transaction; its result comes when it is on disk. The error is a sentence,
    /// and then nothing was changed.
    pub async fn submit<T: Send + 'static>(
        &self,
        time_us: Option<u64>,
        work: impl FnOnce(&Connection, u64) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, String> {
        let ended = || "the server is about to end; nothing was changed".to_owned();
        let (teller, told) = oneshot::channel();
        let job = Box::new(Task { time_us, work: Some(work), done: None, teller });
        locked(&self.jobs).as_ref().and_then(|jobs| jobs.send(job).ok()).ok_or_else(ended)?;
        told.await.map_err(|_| ended())?
    }

    /// How the latest write went. A caller who finds it older than it likes writes himself.
    pub fn last(&self) -> MutexGuard<'_, LastWrite> {
        locked(&self.last)
    }

    /// Finishes what was handed in, and ends the write-ahead log, so that one file holds all.
    pub fn close(&self) {
        drop(locked(&self.jobs).take());
        if let Some(thread) = locked(&self.thread).take() {
            let _ = thread.join();
        }
    }
}

fn run(db: Connection, jobs: &Receiver<Box<dyn Job>>, clock: &Clock, last: &Mutex<LastWrite>) {
    let mut desk = Desk { db, jobs, clock, minute: 0 };
    while let Ok(first) = jobs.recv() {
        let mut group = vec![first];
        let (outcomes, fault) = desk.work_off(&mut group);
        if let Some(why) = &fault {
            log::warn("database", json!({"why": why}));
        }
        *locked(last) = LastWrite { tried: Instant::now(), fault };
        for (job, outcome) in group.into_iter().zip(outcomes) {
            job.tell(outcome);
        }
    }
    let done = desk.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    if let Err(e) = done {
        log::warn("checkpoint", json!({"why": e.to_string()}));
    }
}

/// One outcome a job, and the database's fault if it had one.
type Outcomes = (Vec<Result<(), String>>, Option<String>);

/// What the writing thread works with.
struct Desk<'a> {
    db: Connection,
    jobs: &'a Receiver<Box<dyn Job>>,
    clock: &'a Clock,
    /// The minute of the latest job.
    minute: u64,
}

impl Desk<'_> {
    /// Works off the first job and those that have come meanwhile, as one transaction.
    fn work_off(&mut self, group: &mut Vec<Box<dyn Job>>) -> Outcomes {
        let mut told = (Vec::new(), None);
        if let Err(Fault { why, .. }) = self.transact(group, &mut told) {
            // Nobody's work is on disk, whatever became of it in memory.
            told = (vec![Err(why.clone()); group.len()], Some(why));
        }
        told
    }

    fn transact(
        &mut self,
        group: &mut Vec<Box<dyn Job>>,
        (outcomes, fault): &mut Outcomes,
    ) -> Result<(), Fault> {
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut at = 0;
        while at < group.len() {
            let job = &mut group[at];
            let now_us = self.clock.now_us(job.time_us());
            if store::minute_of(now_us) != self.minute {
                self.minute = store::minute_of(now_us);
                store::close_minutes(&tx, self.minute)?;
                store::end_intents(&tx, now_us)?;
            }
            tx.prepare_cached("SAVEPOINT job")?.execute([])?;
            let outcome = job.work(&tx, now_us);
            if let Err(failed) = &outcome {
                if tx.is_autocommit() {
                    // SQLite gave the whole transaction up, as it does on a full disk.
                    return Err(Fault { why: failed.why.clone(), database: true });
                }
                tx.prepare_cached("ROLLBACK TO job")?.execute([])?;
                if failed.database {
                    *fault = Some(failed.why.clone());
                }
            }
            tx.prepare_cached("RELEASE job")?.execute([])?;
            outcomes.push(outcome.map_err(|failed| failed.why));
            at += 1;
            if group.len() < MAX_GROUP {
                group.extend(self.jobs.try_recv());
            }
        }
        Ok(tx.commit()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer() -> (Writer, std::path::PathBuf) {
        let folder = std::env::temp_dir().join(format!("sunseal-writer-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("w.db");
        let _ = std::fs::remove_file(&path);
        let db = store::open(&path).unwrap();
        (Writer::start(db, Arc::new(Clock::driven(0))), path)
    }

    /// One that fails and one that panics take back their own work and nobody else's.
    #[tokio::test]
    async fn a_job_that_fails_takes_back_nothing_but_itself() {
        let (writer, path) = writer();
        let name = |name: &'static str, end: fn() -> rusqlite::Result<()>| {
            writer.submit(Some(1), move |db, now_us| {
                crate::tokens::make(db, now_us, crate::tokens::Role::Gateway, name)?;
                end()
            })
        };
        let (a, b, c, d) = tokio::join!(
            name("a", || Ok(())),
            name("b", || Err(rusqlite::Error::InvalidQuery)),
            name("c", || panic!("on purpose")),
            name("d", || Ok(())),
        );
        assert!(a.is_ok() && d.is_ok());
        assert!(b.unwrap_err().contains("nothing was changed"));
        assert!(c.unwrap_err().contains("on purpose"));
        assert_eq!(writer.last().fault, None);
        writer.close();
        let kept = crate::tokens::list(&store::reader(&path).unwrap()).unwrap();
        let names: Vec<_> = kept.iter().map(|t| t["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["a", "d"]);
        assert!(writer.submit(None, |_, _| Ok(())).await.is_err());
    }
}
