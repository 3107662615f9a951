// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections of the HTTP server, each with a bound: how many, how slow, how long.

use std::future::Future;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::seats::{Seat, Seats};
use crate::{log, tls};

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

/// Answers until `stop`, by TLS where there is an acceptor; then finishes what was begun, within three seconds.
pub async fn serve(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    router: Router,
    stop: impl Future<Output = ()>,
) {
    let seats = Arc::new(Seats::new(MAX_CONNECTIONS, false));
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
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // Small answers must not wait for company.
            let _ = stream.set_nodelay(true);
            let peer = Peer(peer.ip());
            match acceptor {
                None => converse((stream, peer), router, told, &seat).await,
                Some(acceptor) => {
                    let shaken = tokio::select! {
                        shaken = acceptor.accept(stream) => Some(shaken),
                        () = tokio::time::sleep(READ_TIMEOUT) => None,
                        () = seat.asked_to_leave() => None,
                    };
                    match shaken {
                        Some(Ok(stream)) => converse((stream, peer), router, told, &seat).await,
                        Some(Err(e)) => {
                            let peer = peer.0.to_string();
                            log::warn("tls", json!({"peer": peer, "why": tls::why(&e)}));
                        }
                        None => {}
                    }
                }
            }
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

async fn converse<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    (stream, peer): (S, Peer),
    router: Router,
    mut told: watch::Receiver<bool>,
    seat: &Arc<Seat>,
) {
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
        () = seat.asked_to_leave() => return,
        _ = told.wait_for(|&stop| stop) => {}
        () = tokio::time::sleep(CONNECTION_LIFE) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(LAST_ANSWER, connection).await;
}
