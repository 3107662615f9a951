// SPDX-License-Identifier: MIT OR Apache-2.0
//! What anybody may send to the server's port: read by libFuzzer's target and by the replay.

use std::cell::OnceCell;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use sunseal_server::api::{self, App, Settings};
use sunseal_server::clock::Clock;
use sunseal_server::judge::Rules;
use sunseal_server::store;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};

/// What takes a body, by the input's first letter from `a` on. The node is the one of `data/vectors/link.json`.
const PATHS: [&str; 12] = [
    "/v1/nodes",
    "/v1/nodes/53554e5345414c01/enrol",
    "/v1/nodes/53554e5345414c01/hello",
    "/v1/nodes/53554e5345414c01/responses",
    "/v1/nodes/53554e5345414c01/reports",
    "/v1/nodes/53554e5345414c01/challenges",
    "/v1/nodes/53554e5345414c01/revoke",
    "/v1/nodes/53554e5345414c01/rekey",
    "/v1/tokens",
    "/v1/tokens/1/revoke",
    "/v1/nodes/import",
    "/v1/nodes/53554e5345414c01/change",
];

/// A server of one thread, which is asked without a network.
struct Server {
    runtime: Runtime,
    router: Router,
}

impl Server {
    fn start() -> Self {
        let folder = std::env::temp_dir().join(format!("sunseal-http-{}", std::process::id()));
        // What another process of this number left behind.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("the folder for temporary files can be written");
        let path = folder.join("store.db");
        let db = store::open(&path).expect("a new database can be opened");
        // Every request is the operator's: what is behind the tokens is to be reached.
        let settings = Settings { open: true, quiet: true, ..Settings::default() };
        let app = App::new(db, path, Clock::driven(1_000_000), Rules::default(), settings);
        let runtime =
            Builder::new_current_thread().enable_all().build().expect("there are threads");
        let server = Self { runtime, router: api::router(app) };
        let answer = server.answer(&post(PATHS[0], br#"{"node_id":"53554e5345414c01"}"#));
        assert!(answer.starts_with(b"HTTP/1.1 201 "), "{}", String::from_utf8_lossy(&answer));
        server
    }

    fn answer(&self, request: &[u8]) -> Vec<u8> {
        let (mut us, them) = tokio::io::duplex(1 << 20);
        let service = TowerToHyperService::new(self.router.clone());
        // The end of what we say is no reason not to answer, as it may be on a line.
        let mut builder = http1::Builder::new();
        let connection = builder.half_close(true).serve_connection(TokioIo::new(them), service);
        let talk = async {
            let mut answer = Vec::new();
            // It may hang up in the middle of nonsense.
            let _ = us.write_all(request).await;
            let _ = us.shutdown().await;
            let _ = us.read_to_end(&mut answer).await;
            answer
        };
        self.runtime.block_on(async { tokio::join!(connection, talk) }).1
    }
}

fn post(path: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// Sends a body, or, if the first byte names no path, all of it as it is. There is an answer to every body, and no
/// answer says that the server failed.
pub fn http(data: &[u8]) {
    thread_local!(static SERVER: OnceCell<Server> = const { OnceCell::new() });
    let path = data.first().and_then(|&b| PATHS.get(usize::from(b.wrapping_sub(b'a'))));
    let request = path.map_or_else(|| data.to_vec(), |path| post(path, &data[1..]));
    let answer = SERVER.with(|server| server.get_or_init(Server::start).answer(&request));
    let said = String::from_utf8_lossy(&answer);
    assert!(path.is_none() || said.starts_with("HTTP/1.1 "), "no answer to a body: {said}");
    assert!(!said.starts_with("HTTP/1.1 5"), "{said}");
}
