// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections of the HTTP server, each with a bound: how many, how slow, how long.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::log;

/// Connections at once; more wait.
pub const MAX_CONNECTIONS: u32 = 256;
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

/// Answers until `stop`; then finishes what was begun, within three seconds.
pub async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS as usize));
    let (tell, told) = watch::channel(false);
    let mut stop = pin!(stop);
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, accept(&listener).await.0)
        };
        let (place, stream) = tokio::select! {
            next = next => next,
            () = &mut stop => break,
        };
        let (router, told) = (router.clone(), told.clone());
        tokio::spawn(async move {
            let _place = place;
            converse(stream, router, told).await;
        });
    }
    // Nobody new may come while the last are answered.
    drop(listener);
    let _ = tell.send(true);
    let everybody = places.acquire_many(MAX_CONNECTIONS);
    let _ = tokio::time::timeout(LAST_ANSWER + Duration::from_secs(1), everybody).await;
}

async fn converse(stream: TcpStream, router: Router, mut told: watch::Receiver<bool>) {
    // Small answers must not wait for company.
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(READ_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // Whatever ended it, the caller is gone.
        _ = connection.as_mut() => return,
        _ = told.wait_for(|&stop| stop) => {}
        () = tokio::time::sleep(CONNECTION_LIFE) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(LAST_ANSWER, connection).await;
}
