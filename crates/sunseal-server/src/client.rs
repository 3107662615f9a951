// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small HTTP client: one request, one connection, JSON both ways.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::http::{HeaderValue, Method, Request, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::tls;

/// Header by which a gateway says how many messages it has that the server has not answered.
pub const BACKLOG_HEADER: &str = "sunseal-backlog";
/// An answer larger than this is none of our server's.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Address of a server: `http://host:port`, or `https://host:port`.
#[derive(Clone, Debug)]
pub struct Server {
    authority: String,
    tls: Option<(ServerName<'static>, Arc<ClientConfig>)>,
    token: Option<HeaderValue>,
    backlog: Arc<AtomicU32>,
    timeout: Duration,
}

impl Server {
    /// Reads a URL of plain HTTP, without a path.
    pub fn parse(url: &str) -> Result<Self, String> {
        Self::parse_with(url, || {
            Err(format!(
                "the server `{url}` speaks TLS, which is not set up: write http://HOST:PORT"
            ))
        })
    }

    /// Reads a URL without a path; of one that wants TLS the caller's side is made by `tls`.
    pub fn parse_with(
        url: &str,
        tls: impl FnOnce() -> Result<Arc<ClientConfig>, String>,
    ) -> Result<Self, String> {
        let wanted = || {
            format!(
                "the server's URL `{url}` is not understood: write http://HOST:PORT or https://HOST:PORT"
            )
        };
        let secure = url.strip_prefix("https://");
        let authority = secure.or_else(|| url.strip_prefix("http://")).ok_or_else(wanted)?;
        let authority = authority.trim_end_matches('/');
        let (host, port) = authority.rsplit_once(':').ok_or_else(wanted)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
        if host.is_empty() || !host.chars().all(plain) || port.parse::<u16>().is_err() {
            return Err(wanted());
        }
        let tls = match secure {
            None => None,
            Some(_) => {
                let name = host.trim_start_matches('[').trim_end_matches(']').to_owned();
                Some((ServerName::try_from(name).map_err(|_| wanted())?, tls()?))
            }
        };
        let timeout = Duration::from_secs(10);
        let (authority, backlog) = (authority.to_owned(), Arc::default());
        Ok(Self { authority, tls, token: None, backlog, timeout })
    }

    /// The same server, spoken to with this token.
    pub fn with_token(mut self, token: &str) -> Result<Self, String> {
        let mut value = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| "a token is one word of letters, digits and `-`".to_owned())?;
        value.set_sensitive(true);
        self.token = Some(value);
        Ok(self)
    }

    /// Says with each request from now on how many messages wait for an answer beside it.
    pub fn tell_backlog(&self, messages: u32) {
        self.backlog.store(messages.saturating_add(1), Ordering::Relaxed);
    }

    /// Sends a request and reads status and JSON. The error is a sentence.
    pub async fn request(
        &self,
        method: Method,
        path: &str,
        time_us: Option<u64>,
        body: Option<&Value>,
    ) -> Result<(u16, Value), String> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let told = |why: String| format!("{scheme}://{}{path}: {why}", self.authority);
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, &self.authority)
            .header(header::CONNECTION, "close");
        if let Some(time_us) = time_us {
            request = request.header(crate::clock::TIME_HEADER, time_us);
        }
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, token);
        }
        // One more than the number, so that 0 is a caller who says none.
        if let Some(backlog) = self.backlog.load(Ordering::Relaxed).checked_sub(1) {
            request = request.header(BACKLOG_HEADER, backlog);
        }
        let bytes = body.map_or_else(Bytes::new, |value| value.to_string().into());
        let request = request
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(bytes))
            .map_err(|e| told(e.to_string()))?;
        match tokio::time::timeout(self.timeout, self.exchange(request)).await {
            Ok(answer) => answer.map_err(told),
            Err(_) => Err(format!(
                "{scheme}://{}{path} did not answer within {} s",
                self.authority,
                self.timeout.as_secs()
            )),
        }
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<(u16, Value), String> {
        let stream = TcpStream::connect(&self.authority).await.map_err(|e| e.to_string())?;
        // Small requests must not wait for company.
        stream.set_nodelay(true).map_err(|e| e.to_string())?;
        match &self.tls {
            None => Self::converse(stream, request).await,
            Some((name, config)) => {
                let connector = TlsConnector::from(Arc::clone(config));
                let stream = connector.connect(name.clone(), stream).await;
                Self::converse(stream.map_err(|e| tls::why(&e))?, request).await
            }
        }
    }

    async fn converse<S>(stream: S, request: Request<Full<Bytes>>) -> Result<(u16, Value), String>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|e| e.to_string())?;
        let driver = tokio::spawn(connection);
        let answer = sender.send_request(request).await.map_err(|e| cause(&e))?;
        let status = answer.status().as_u16();
        let body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES).collect().await;
        driver.abort();
        let bytes = body.map_err(|e| e.to_string())?.to_bytes();
        let value = serde_json::from_slice(&bytes)
            .map_err(|e| format!("status {status}, and the answer is not JSON ({e})"))?;
        Ok((status, value))
    }
}

/// The innermost reason, which says more than hyper's words: in TLS 1.3 a client learns after its handshake that its
/// certificate was refused.
fn cause(error: &hyper::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(next) = inner.source() {
        inner = next;
        if let Some(e) = inner.downcast_ref::<std::io::Error>() {
            return tls::why(e);
        }
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_is_not_understood_is_told_with_what_would_be() {
        assert!(Server::parse("http://127.0.0.1:80/").is_ok());
        assert!(Server::parse("http://[::1]:8080").is_ok());
        for url in ["", "https://a:1", "http://a", "http://a:b", "http://:1", "http://a/b:1"] {
            let why = Server::parse(url).unwrap_err();
            assert!(why.contains("write http://HOST:PORT"), "{why}");
        }
    }
}
