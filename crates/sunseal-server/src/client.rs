// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small HTTP client: one request, one connection, JSON both ways.

use std::time::Duration;

use axum::http::{HeaderValue, Method, Request, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// An answer larger than this is none of our server's.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Where a server is: `http://host:port`.
#[derive(Clone, Debug)]
pub struct Server {
    authority: String,
    token: Option<HeaderValue>,
    timeout: Duration,
}

impl Server {
    /// Reads a URL; only plain HTTP without a path is taken.
    pub fn parse(url: &str) -> Result<Self, String> {
        let wanted =
            || format!("the server's URL `{url}` is not understood: write http://HOST:PORT");
        let authority = url.strip_prefix("http://").ok_or_else(wanted)?.trim_end_matches('/');
        let (host, port) = authority.rsplit_once(':').ok_or_else(wanted)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
        if host.is_empty() || !host.chars().all(plain) || port.parse::<u16>().is_err() {
            return Err(wanted());
        }
        let timeout = Duration::from_secs(10);
        Ok(Self { authority: authority.to_owned(), token: None, timeout })
    }

    /// The same server, spoken to with this token.
    pub fn with_token(mut self, token: &str) -> Result<Self, String> {
        let mut value = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| "a token is one word of letters, digits and `-`".to_owned())?;
        value.set_sensitive(true);
        self.token = Some(value);
        Ok(self)
    }

    /// Sends a request and reads status and JSON. The error is a sentence.
    pub async fn request(
        &self,
        method: Method,
        path: &str,
        time_us: Option<u64>,
        body: Option<&Value>,
    ) -> Result<(u16, Value), String> {
        let told = |why: String| format!("http://{}{path}: {why}", self.authority);
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
        let bytes = body.map_or_else(Bytes::new, |value| value.to_string().into());
        let request = request
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(bytes))
            .map_err(|e| told(e.to_string()))?;
        match tokio::time::timeout(self.timeout, self.exchange(request)).await {
            Ok(answer) => answer.map_err(told),
            Err(_) => Err(format!(
                "http://{}{path} did not answer within {} s",
                self.authority,
                self.timeout.as_secs()
            )),
        }
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<(u16, Value), String> {
        let stream = TcpStream::connect(&self.authority).await.map_err(|e| e.to_string())?;
        // Small requests must not wait for company.
        stream.set_nodelay(true).map_err(|e| e.to_string())?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|e| e.to_string())?;
        let driver = tokio::spawn(connection);
        let answer = sender.send_request(request).await.map_err(|e| e.to_string())?;
        let status = answer.status().as_u16();
        let body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES).collect().await;
        driver.abort();
        let bytes = body.map_err(|e| e.to_string())?.to_bytes();
        let value = serde_json::from_slice(&bytes)
            .map_err(|e| format!("status {status}, and the answer is not JSON ({e})"))?;
        Ok((status, value))
    }
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
            assert!(why.ends_with("write http://HOST:PORT"), "{why}");
        }
    }
}
