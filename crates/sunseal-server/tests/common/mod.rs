// SPDX-License-Identifier: MIT OR Apache-2.0
//! The real programs on free ports, and nodes that can sign.
#![allow(dead_code)] // each test file uses its part

pub mod radio;
pub mod signer;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use sunseal_link::{Enrol, Hello, Message, NodeId, Reason, Report, Response, Suite, signed};
use sunseal_server::client::Server;
use sunseal_server::hex;

pub use signer::Signer;

/// A folder of this test's own.
pub fn folder(name: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{name}-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The program under test; the bench compares with another one that the environment names.
pub fn program() -> Command {
    let named = std::env::var_os("SUNSEAL_SERVER");
    Command::new(named.unwrap_or_else(|| env!("CARGO_BIN_EXE_sunseal-server").into()))
}

/// The tokens of a server: in a file at its first start, kept beside its database by the tests.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    pub operator: String,
    pub gateway: String,
}

/// By the server's address.
static TOKENS: Mutex<BTreeMap<String, Tokens>> = Mutex::new(BTreeMap::new());

/// Runs the program to its end.
pub fn ends(arguments: &[&str]) -> Output {
    program().args(arguments).output().unwrap()
}

/// Asserts exit 2 and one sentence with these words.
pub fn refused(arguments: &[&str], words: &[&str]) {
    let out = ends(arguments);
    let said = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    for word in words {
        assert!(said.contains(word), "`{word}` is not in: {said}");
    }
}

/// A started program; killed when dropped.
pub struct Running {
    child: Child,
    pub address: String,
    /// What it printed when it was up.
    pub line: Value,
    pub tokens: Tokens,
    said: Arc<Mutex<String>>,
}

impl Running {
    pub fn start(arguments: &[&str]) -> Self {
        let mut command = program();
        command.args(arguments);
        Self::spawn(command)
    }

    pub fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|e| {
            let mut why = String::new();
            child.stderr.take().unwrap().read_to_string(&mut why).unwrap();
            panic!("`{line}` is not the line that was promised ({e}): {why}")
        });
        let address = said["listening"].as_str().unwrap().to_owned();
        let first = said["tokens_file"].as_str().map(|file| std::fs::read_to_string(file).unwrap());
        let first: Value = serde_json::from_str(first.as_deref().unwrap_or("{}")).unwrap();
        let text = |key: &str| first[key].as_str().unwrap_or_default().to_owned();
        let tokens = Tokens { operator: text("operator_token"), gateway: text("gateway_token") };
        let line = said;
        // Read on, lest a full pipe stop the program.
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let said = Arc::new(Mutex::new(String::new()));
        let log = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                *log.lock().unwrap() += &(line + "\n");
            }
        });
        TOKENS.lock().unwrap().insert(address.clone(), tokens.clone());
        Self { child, address, line, tokens, said }
    }

    /// Keeps the tokens of a first start beside the database, and has them at the next.
    pub fn over(mut self, db: &Path) -> Self {
        let kept = db.with_extension("tokens");
        if self.tokens.operator.is_empty() {
            let text = std::fs::read_to_string(&kept).unwrap_or_default();
            let mut lines = text.lines().map(str::to_owned);
            let mut next = || lines.next().unwrap_or_default();
            self.tokens = Tokens { operator: next(), gateway: next() };
        }
        let text = format!("{}\n{}\n", self.tokens.operator, self.tokens.gateway);
        std::fs::write(&kept, text).unwrap();
        TOKENS.lock().unwrap().insert(self.address.clone(), self.tokens.clone());
        self
    }

    /// The lines of its log so far that tell `what`.
    pub fn told(&self, what: &str) -> Vec<Value> {
        let said = self.said.lock().unwrap();
        let lines = said.lines().map(|l| serde_json::from_str::<Value>(l).unwrap());
        lines.filter(|line| line["what"] == what).collect()
    }

    /// Waits until its log tells `what` that often: the log arrives when it arrives.
    pub fn tells(&self, what: &str, times: usize) -> Vec<Value> {
        for _ in 0..500 {
            let told = self.told(what);
            if told.len() >= times {
                return told;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("`{what}` is not told {times} times: {}", self.said.lock().unwrap());
    }

    pub fn server(db: &Path, more: &[&str]) -> Self {
        let mut arguments = vec!["serve", "--listen", "127.0.0.1:0", "--db", db.to_str().unwrap()];
        arguments.extend(["--clock", "driven"]);
        arguments.extend(more);
        Self::start(&arguments).over(db)
    }

    pub fn gateway(server: &str, more: &[&str]) -> Self {
        let url = format!("http://{server}");
        let mut command = program();
        command.args(["gateway", "--listen", "127.0.0.1:0", "--server", &url]).args(more);
        let tokens = TOKENS.lock().unwrap().get(server).cloned().unwrap_or_default();
        command.env("SUNSEAL_TOKEN", tokens.gateway);
        Self::spawn(command)
    }

    /// Most memory that it ever held, as Linux tells it.
    pub fn peak_kilobytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Sends a signal and waits for the end.
    pub fn signal(mut self, name: &str) -> Option<i32> {
        let pid = self.child.id();
        // The shell's own: a small Debian has no program of that name.
        let kill = format!("kill {name} {pid}");
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client whose requests carry a time.
pub struct Client {
    server: Server,
    pub time_us: u64,
}

impl Client {
    /// The operator, who may do everything.
    pub fn new(running: &Running) -> Self {
        Self::with_token(running, &running.tokens.operator)
    }

    pub fn with_token(running: &Running, token: &str) -> Self {
        let server = Self::without_token(running).server.with_token(token).unwrap();
        Self { server, time_us: 1_000_000 }
    }

    pub fn without_token(running: &Running) -> Self {
        let server = Server::parse(&format!("http://{}", running.address)).unwrap();
        Self { server, time_us: 1_000_000 }
    }

    /// Status and JSON of a question, whatever the status.
    pub async fn try_get(&self, path: &str) -> (u16, Value) {
        self.server.request(Method::GET, path, Some(self.time_us), None).await.unwrap()
    }

    /// Status alone, of an answer that need not be JSON.
    pub async fn try_status(&self, path: &str) -> u16 {
        match self.server.request(Method::GET, path, Some(self.time_us), None).await {
            Ok((status, _)) => status,
            Err(why) => why.split("status ").nth(1).unwrap()[..3].parse().unwrap(),
        }
    }

    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        let time_us = Some(self.time_us);
        self.server.request(Method::POST, path, time_us, Some(&body)).await.unwrap()
    }

    pub async fn get(&self, path: &str) -> Value {
        let (status, value) = self.try_get(path).await;
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    pub async fn open(&self, node: &Node) {
        let id = node.id.to_string();
        let (status, said) = self.post("/v1/nodes", json!({"node_id": id, "name": "a node"})).await;
        assert_eq!(status, 201, "{said}");
    }

    pub async fn ask(&self, node: &Node) -> u32 {
        let (status, said) = self.post(&node.path("challenges"), json!({})).await;
        assert_eq!(status, 201, "{said}");
        said["challenge_id"].as_u64().unwrap() as u32
    }

    /// Sends a body as the gateway would: to the path that the body itself names.
    pub async fn send(&self, message: &Message) -> (u16, Value) {
        self.send_body(path_of(message), &message.encode()).await
    }

    /// `None` if the server died before it answered.
    pub async fn try_send(&self, message: &Message) -> Option<(u16, Value)> {
        let path = format!("/v1/nodes/{}/{}", message.node_id(), path_of(message));
        let body = json!({"body": hex::encode(&message.encode())});
        self.server.request(Method::POST, &path, Some(self.time_us), Some(&body)).await.ok()
    }

    pub async fn send_body(&self, part: &str, body: &[u8]) -> (u16, Value) {
        let id = hex::encode(&body[..8]);
        self.post(&format!("/v1/nodes/{id}/{part}"), json!({"body": hex::encode(body)})).await
    }

    /// Opens, enrols by proof of possession.
    pub async fn enrol(&self, node: &Node) {
        self.open(node).await;
        let (status, said) = self.send(&node.enrol()).await;
        assert_eq!((status, &said["verdict"]), (200, &json!(0)), "{said}");
    }

    /// HELLO, and the challenge that answers it.
    pub async fn challenge(&self, node: &Node) -> (u32, [u8; 16]) {
        let (status, said) = self.send(&node.hello()).await;
        assert_eq!(status, 200, "{said}");
        challenge_of(&said).unwrap_or_else(|| panic!("no challenge: {said}"))
    }

    pub async fn node(&self, node: &Node) -> Value {
        self.get(&format!("/v1/nodes/{}", node.id)).await
    }
}

/// A server with a database of its own, and its operator.
pub fn served(name: &str, more: &[&str]) -> (Running, Client) {
    let server = Running::server(&folder(name).join("s.db"), more);
    let client = Client::new(&server);
    (server, client)
}

/// The same, and a node that has enrolled.
pub async fn enrolled(name: &str, more: &[&str], suite: Suite) -> (Running, Client, Node) {
    let (server, client) = served(name, more);
    let node = Node::new(1, Signer::new(suite));
    client.enrol(&node).await;
    (server, client, node)
}

pub fn challenge_of(said: &Value) -> Option<(u32, [u8; 16])> {
    let id = said["challenge"]["challenge_id"].as_u64()? as u32;
    Some((id, hex::decode(said["challenge"]["nonce"].as_str()?).unwrap().try_into().unwrap()))
}

pub fn path_of(message: &Message) -> &'static str {
    match message {
        Message::Hello(_) => "hello",
        Message::Response(_) => "responses",
        Message::Report(_) => "reports",
        Message::Enrol(_) => "enrol",
        other => panic!("{other:?} does not go up"),
    }
}

pub fn verdict(answer: &(u16, Value)) -> u64 {
    answer.1["verdict"].as_u64().unwrap_or_else(|| panic!("no verdict: {answer:?}"))
}

/// A node that signs.
pub struct Node {
    pub id: NodeId,
    pub signer: Signer,
}

impl Node {
    pub fn new(number: u8, signer: Signer) -> Self {
        Self { id: NodeId([b'n', b'o', b'd', b'e', 0, 0, 0, number]), signer }
    }

    pub fn path(&self, part: &str) -> String {
        format!("/v1/nodes/{}/{part}", self.id)
    }

    pub fn hello(&self) -> Message {
        let (node_id, reason) = (self.id, Reason::Ready);
        Message::Hello(Hello { node_id, counter: 0, vcap_mv: 2_700, reason, listen_ms: 0 })
    }

    pub fn enrol(&self) -> Message {
        let suite = self.signer.suite();
        let public_key = self.signer.public_key();
        let bytes = signed::enrol(self.id, suite, &public_key).unwrap();
        let signature = self.signer.sign(&bytes);
        Message::Enrol(Enrol { node_id: self.id, suite, public_key, signature })
    }

    pub fn response(&self, challenge: (u32, [u8; 16]), counter: u32) -> Message {
        let (challenge_id, nonce) = challenge;
        let signature = self.signer.sign(&signed::auth(self.id, challenge_id, &nonce, counter));
        let suite = self.signer.suite();
        Message::Response(Response { node_id: self.id, challenge_id, counter, suite, signature })
    }

    pub fn report(&self, data: &[u8], counter: u32) -> Message {
        let data = sunseal_link::InlineBytes::copy_of(data).unwrap();
        let signature = self.signer.sign(&signed::report(self.id, counter, &data));
        let suite = self.signer.suite();
        Message::Report(Report { node_id: self.id, counter, suite, data, signature })
    }
}
