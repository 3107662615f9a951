// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections of the HTTP server, each with a bound: how many, how slow, how long.

use std::future::Future;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

use crate::log;

/// Connections at once. Who comes then takes the place of the one that has said nothing whole for
/// longest; only if all are being answered does he wait.
pub const MAX_CONNECTIONS: usize = 256;
/// A request's head, and then its body, must have come within this.
pub const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// A connection takes no new request after this, and whoever reads no answer is left.
pub const CONNECTION_LIFE: Duration = Duration::from_secs(60);
/// The last request of a connection is answered within this.
const LAST_ANSWER: Duration = Duration::from_secs(3);

/// The next connection. What goes wrong with one caller, or passes when others hang up, ends
/// nothing.
pub async fn accept(listener: &TcpListener) -> (TcpStream, std::net::SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(e) => {
                log::warn("accept", json!({"why": e.to_string()}));
                // Out of file descriptors, most likely: somebody will hang up.
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// A connection's place, and whose turn it is to speak.
#[derive(Debug)]
pub struct Seat {
    turn: Mutex<Turn>,
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

impl Seat {
    fn new() -> Arc<Self> {
        Arc::new(Self { turn: Mutex::new(Turn::Theirs(Instant::now())), leave: Notify::new() })
    }

    /// A whole request is here.
    pub fn answer(&self) -> Answering<'_> {
        *locked(&self.turn) = Turn::Ours;
        Answering(self)
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

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The places that are taken.
#[derive(Default)]
struct Seats {
    taken: Mutex<Vec<Arc<Seat>>>,
    changed: Notify,
}

impl Seats {
    /// A place, if need be that of the caller who has been silent for longest.
    async fn take(&self) -> Arc<Seat> {
        loop {
            if let Some(seat) = self.try_take() {
                return seat;
            }
            self.changed.notified().await;
        }
    }

    fn try_take(&self) -> Option<Arc<Seat>> {
        let mut taken = locked(&self.taken);
        if taken.len() >= MAX_CONNECTIONS {
            let silent = taken.iter().enumerate();
            let silent = silent.filter_map(|(at, seat)| Some((seat.silent_since()?, at)));
            let (_, at) = silent.min()?;
            taken.swap_remove(at).leave.notify_one();
        }
        let seat = Seat::new();
        taken.push(Arc::clone(&seat));
        Some(seat)
    }

    fn leave(&self, seat: &Arc<Seat>) {
        locked(&self.taken).retain(|other| !Arc::ptr_eq(other, seat));
        self.changed.notify_one();
    }

    async fn empty(&self) {
        while !locked(&self.taken).is_empty() {
            self.changed.notified().await;
        }
    }
}

/// Answers until `stop`; then finishes what was begun, within three seconds.
pub async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    let seats = Arc::new(Seats::default());
    let (tell, told) = watch::channel(false);
    let mut stop = pin!(stop);
    loop {
        let next = async {
            let (stream, peer) = accept(&listener).await;
            (stream, peer, seats.take().await)
        };
        let (stream, peer, seat) = tokio::select! {
            next = next => next,
            () = &mut stop => break,
        };
        let (router, told, seats) = (router.clone(), told.clone(), Arc::clone(&seats));
        tokio::spawn(async move {
            converse((stream, Peer(peer.ip())), router, told, &seat).await;
            seats.leave(&seat);
        });
    }
    // Nobody new may come while the last are answered.
    drop(listener);
    let _ = tell.send(true);
    let _ = tokio::time::timeout(LAST_ANSWER + Duration::from_secs(1), seats.empty()).await;
}

/// The address that a connection comes from.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

async fn converse(
    (stream, peer): (TcpStream, Peer),
    router: Router,
    mut told: watch::Receiver<bool>,
    seat: &Arc<Seat>,
) {
    // Small answers must not wait for company.
    let _ = stream.set_nodelay(true);
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(Arc::clone(seat));
        request.extensions_mut().insert(peer);
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(READ_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // Whatever ended it, the caller is gone.
        _ = connection.as_mut() => return,
        // His place was needed.
        () = seat.leave.notified() => return,
        _ = told.wait_for(|&stop| stop) => {}
        () = tokio::time::sleep(CONNECTION_LIFE) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(LAST_ANSWER, connection).await;
}
