// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nodes that listen: the server tells gateways whom to call, the gateway calls them by trains.

mod common;

use std::time::{Duration, Instant};

use common::radio::{ADDRESS, Radio};
use common::*;
use serde_json::json;
use sunseal_link::air::{Down, Listen, Train, Up};
use sunseal_link::{
    Frame, GATEWAY, Hello, Kind, Message, Reason, Suite, Verdict, VerdictCode, Wake, fragments,
};

const SECOND_US: u64 = 1_000_000;

impl Radio {
    /// Sends a message whose last packet ends at `time_us`; what comes back.
    fn say(&mut self, time_us: u64, message: &Message) -> Message {
        let mut answer = None;
        for frame in self.frames(message) {
            let packet = [&[frame.len() as u8], &frame[..]].concat();
            let up = Up { time_us, rssi_dbm: -70, lqi: 5, packet: &packet, crc_ok: true };
            let down = Down::decode(&self.exchange(&up.encode().unwrap())).unwrap();
            answer = down.frames().next().map(|f| f.frame);
        }
        let frame = answer.expect("every whole message is answered");
        let frame = Frame::parse(&frame).unwrap();
        Message::decode(frame.kind, frame.fragment).unwrap()
    }

    /// Two milliseconds of listening.
    fn listen(&mut self, from_us: u64) -> Option<Train> {
        Train::decode(&self.exchange(&Listen { from_us, span_us: 2_000 }.encode())).unwrap()
    }

    /// The same, a train expected.
    fn called(&mut self, from_us: u64) -> (Train, Wake) {
        let train = self.listen(from_us).expect("a train");
        let frame = Frame::parse(&train.frame).unwrap();
        assert_eq!((frame.dst, frame.src, frame.kind), (ADDRESS, GATEWAY, Kind::Wake));
        match Message::decode(frame.kind, frame.fragment).unwrap() {
            Message::Wake(wake) => (train, wake),
            other => panic!("{other:?}"),
        }
    }
}

fn hello(node: &Node, reason: Reason, listen_ms: u16) -> Message {
    Message::Hello(Hello { node_id: node.id, counter: 0, vcap_mv: 2_700, reason, listen_ms })
}

fn accepted(message: &Message) -> bool {
    matches!(message, Message::Verdict(Verdict { verdict: VerdictCode::Accepted, .. }))
}

struct Scene {
    _server: Running,
    gateway: Running,
    client: Client,
    node: Node,
    radio: Radio,
}

/// A node that is enrolled at one second.
async fn scene(name: &str, more: &[&str]) -> Scene {
    let server = Running::server(&folder(name).join("s.db"), &[]);
    let gateway = Running::gateway(&server.address, more);
    let client = Client::new(&server);
    let node = Node::new(1, Signer::new(Suite::EcdsaP256Sha256));
    client.open(&node).await;
    let mut radio = Radio::new(&gateway);
    assert!(accepted(&radio.say(SECOND_US, &node.enrol())));
    Scene { _server: server, gateway, client, node, radio }
}

async fn queue(client: &Client, node: &Node, not_before_us: u64) {
    let body = json!({"not_before_us": not_before_us});
    let (status, said) = client.post(&node.path("challenges"), body).await;
    assert_eq!(status, 201, "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_listens_is_called_when_its_challenge_is_due_and_not_before() {
    let Scene { _server, client, node, mut radio, gateway } = scene("wake-due", &[]).await;
    let due_us = 300 * SECOND_US;
    queue(&client, &node, due_us).await;
    let idle = radio.say(2 * SECOND_US, &hello(&node, Reason::Boot, 1000));
    assert_eq!(idle.kind(), Kind::Idle);
    assert_eq!(client.node(&node).await["listen_us"], SECOND_US);

    assert_eq!(radio.listen(100 * SECOND_US), None);
    assert_eq!(radio.listen(due_us - 2_000), None, "its window ends as the train begins");
    let (train, wake) = radio.called(due_us + 400_000);
    assert_eq!(train.start_us, due_us);
    assert_eq!(radio.called(due_us + 400_000).0, train, "asking again changes nothing");
    // One interval and a twentieth, and two frames, back to back.
    assert_eq!(train.period_us, (4 + 4 + 1 + 35 + 2) * 32 + 64);
    let lasts_us = train.end_us() - train.start_us;
    assert!((1_050_000..1_050_000 + 4 * 1_536).contains(&lasts_us), "{lasts_us}");
    assert_eq!(u64::from(wake.left_ms), (lasts_us - 1_536).div_ceil(1000) + 1);
    assert_eq!(gateway.tells("calls", 1)[0]["challenge_id"], wake.challenge.challenge_id);

    let challenge = (wake.challenge.challenge_id, wake.challenge.nonce);
    // As long as it sends, the gateway is deaf.
    let body = hello(&node, Reason::Ready, 1000).encode();
    let frame = fragments(GATEWAY, ADDRESS, 9, Kind::Hello, &body).next().unwrap();
    let packet = [&[frame.len() as u8], &frame[..]].concat();
    let time_us = train.end_us() - 1;
    let early = Up { time_us, rssi_dbm: -70, lqi: 5, packet: &packet, crc_ok: true };
    assert_eq!(Down::decode(&radio.exchange(&early.encode().unwrap())), Ok(Down::default()));
    let answer = radio.say(train.end_us() + 60_000, &node.response(challenge, 1));
    assert!(accepted(&answer), "{answer:?}");
    assert_eq!(radio.listen(train.end_us() + SECOND_US), None, "nothing is asked any more");
    assert_eq!(client.node(&node).await["challenges"]["answered"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_listen_is_not_called() {
    let Scene { _server, client, node, mut radio, gateway: _gateway } =
        scene("wake-deaf", &[]).await;
    queue(&client, &node, 10 * SECOND_US).await;
    for (at_s, message) in [(2, hello(&node, Reason::Ready, 0)), (4, hello(&node, Reason::Low, 0))]
    {
        assert_eq!(radio.say(at_s * SECOND_US, &message).kind(), Kind::Idle);
        assert_eq!(radio.listen(20 * SECOND_US), None);
        assert_eq!(client.get("/v1/due").await["due"], json!([]));
    }
    // It did, and no longer does.
    assert_eq!(radio.say(5 * SECOND_US, &hello(&node, Reason::Ready, 500)).kind(), Kind::Idle);
    assert_eq!(client.get("/v1/due").await["due"][0]["listen_us"], 500_000);
    assert_eq!(radio.say(6 * SECOND_US, &hello(&node, Reason::Low, 0)).kind(), Kind::Idle);
    assert_eq!(radio.listen(20 * SECOND_US), None);
    // Its own HELLO brings what was waiting.
    let asked = radio.say(21 * SECOND_US, &hello(&node, Reason::Ready, 0));
    assert_eq!(asked.kind(), Kind::Challenge);
    // Nobody makes it listen who is not known to the server.
    let stranger = Node::new(9, Signer::new(Suite::EcdsaP256Sha256));
    let said = radio.say(22 * SECOND_US, &hello(&stranger, Reason::Ready, 500));
    assert_eq!(said.kind(), Kind::Verdict);
    assert_eq!(radio.listen(23 * SECOND_US), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_challenge_is_called_out_three_times_and_no_more() {
    let Scene { _server, client, node, mut radio, gateway: _gateway } =
        scene("wake-thrice", &[]).await;
    queue(&client, &node, 10 * SECOND_US).await;
    radio.say(2 * SECOND_US, &hello(&node, Reason::Ready, 1000));
    let mut trains: Vec<Train> = Vec::new();
    for at_ms in 9_000..60_000_u64 {
        if at_ms % 100 != 0 {
            continue;
        }
        let Some(train) = radio.listen(at_ms * 1000) else { continue };
        if trains.last() != Some(&train) {
            trains.push(train);
        }
    }
    let [first, second, third] = trains[..] else { panic!("{trains:?}") };
    assert_eq!(first.start_us, 10 * SECOND_US);
    assert_eq!(second.start_us, first.end_us() + SECOND_US);
    assert_eq!(third.start_us, second.end_us() + 2 * SECOND_US);
    // One challenge was handed out, and the HELLO brings it again.
    assert_eq!(client.node(&node).await["challenges"]["issued"], 1);
    let again = radio.say(61 * SECOND_US, &hello(&node, Reason::Ready, 1000));
    let Message::Challenge(challenge) = again else { panic!("{again:?}") };
    assert!(accepted(&radio.say(
        61 * SECOND_US + 100_000,
        &node.response((challenge.challenge_id, challenge.nonce), 7)
    )));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_operator_queues_reaches_the_gateway_without_a_message_of_the_node() {
    let Scene { _server, client, node, mut radio, gateway: _gateway } =
        scene("wake-news", &[]).await;
    radio.say(2 * SECOND_US, &hello(&node, Reason::Ready, 1000));
    assert_eq!(radio.listen(3 * SECOND_US), None);
    queue(&client, &node, 0).await;
    // The gateway's question at the server is answered at once, and simulated time waits for nobody.
    let asked = Instant::now();
    let mut at_us = 4 * SECOND_US;
    let train = loop {
        if let Some(train) = radio.listen(at_us) {
            break train;
        }
        assert!(asked.elapsed() < Duration::from_secs(5), "no train within five seconds");
        std::thread::sleep(Duration::from_millis(20));
        at_us += 1_000;
    };
    assert!(train.start_us >= 3 * SECOND_US, "{train:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_trains_of_one_gateway_follow_each_other() {
    let Scene { _server, client, node, mut radio, gateway } = scene("wake-two", &[]).await;
    let other = Node::new(2, Signer::new(Suite::EcdsaP256Sha256));
    client.enrol(&other).await;
    for who in [&node, &other] {
        queue(&client, who, 10 * SECOND_US).await;
    }
    radio.say(2 * SECOND_US, &hello(&node, Reason::Ready, 1000));
    let mut second = Radio::new(&gateway);
    let body = hello(&other, Reason::Ready, 1000).encode();
    let frame = fragments(GATEWAY, ADDRESS + 1, 1, Kind::Hello, &body).next().unwrap();
    let packet = [&[frame.len() as u8], &frame[..]].concat();
    let up = Up { time_us: 3 * SECOND_US, rssi_dbm: -70, lqi: 5, packet: &packet, crc_ok: true };
    second.exchange(&up.encode().unwrap());
    let (first, _) = radio.called(10 * SECOND_US + 500_000);
    let behind = radio.listen(first.end_us() + 1).expect("the other's train");
    assert_eq!(behind.start_us, first.end_us());
    assert_ne!(behind.frame[0], first.frame[0]);
}

#[tokio::test]
async fn the_list_of_the_due_is_for_gateways_and_is_waited_for() {
    let (server, client) = served("due", &[]);
    let (nobody, mut gateway) =
        (Client::without_token(&server), Client::with_token(&server, &server.tokens.gateway));
    assert_eq!(nobody.try_get("/v1/due").await.0, 401);
    let node = Node::new(1, Signer::new(Suite::EcdsaSecp160r1Sha1));
    assert_eq!(nobody.post(&node.path("wake"), json!({})).await.0, 401);
    assert_eq!(gateway.post(&node.path("wake"), json!({})).await.0, 404);
    client.enrol(&node).await;
    let (_, said) = gateway.post(&node.path("wake"), json!({})).await;
    assert_eq!(said, json!({"challenge": null}), "it does not listen");
    let fields = json!({"counter": 0, "vcap_mv": 2700, "reason": "ready", "listen_ms": 2000});
    assert_eq!(client.post(&node.path("hello"), fields).await.0, 200);
    let low = json!({"counter": 0, "vcap_mv": 2700, "reason": "low", "listen_ms": 2000});
    assert_eq!(client.post(&node.path("hello"), low).await.0, 400, "low and listening");

    let before = gateway.get("/v1/due").await;
    assert_eq!(before["due"], json!([]));
    let version = before["version"].as_u64().unwrap();
    let path = format!("/v1/due?after={version}&wait_s=9");
    let asked = Instant::now();
    let (after, ()) = tokio::join!(gateway.get(&path), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        queue(&client, &node, 5 * SECOND_US).await;
    });
    let waited = asked.elapsed();
    assert!((300..5_000).contains(&waited.as_millis()), "{waited:?}");
    assert_eq!(after["version"], version + 1);
    let due =
        json!([{"node_id": node.id.to_string(), "listen_us": 2_000_000, "due_us": 5_000_000}]);
    assert_eq!(after["due"], due);
    // Who knows an older state hears the present one at once.
    assert_eq!(gateway.get(&path).await["due"], due);
    assert_eq!(gateway.try_get("/v1/due?wait_s=31").await.0, 400);

    let (_, early) = gateway.post(&node.path("wake"), json!({})).await;
    assert_eq!(early, json!({"challenge": null}), "its time has not come");
    gateway.time_us = 5 * SECOND_US;
    let later = gateway;
    let (_, said) = later.post(&node.path("wake"), json!({})).await;
    let challenge = challenge_of(&said).unwrap();
    let (_, again) = later.post(&node.path("wake"), json!({})).await;
    assert_eq!(challenge_of(&again), Some(challenge), "the same, with the expiry it had");
    assert_eq!(later.get("/v1/due").await["due"][0]["due_us"], 5_000_000);
    assert_eq!(verdict(&later.send(&node.response(challenge, 1)).await), 0);
    assert_eq!(later.get("/v1/due").await["due"], json!([]));
    // Neither lists nor challenges for who is not trusted.
    queue(&client, &node, 0).await;
    let (status, _) = client.post(&node.path("revoke"), json!({})).await;
    assert_eq!(status, 200);
    assert_eq!(later.get("/v1/due").await["due"], json!([]));
    assert_eq!(later.post(&node.path("wake"), json!({})).await.0, 409);
}

/// A thousand sleeping nodes with a challenge stand in front of nobody: pages reach everybody, and a gateway asks for its own.
#[tokio::test(flavor = "multi_thread")]
async fn sleeping_nodes_hide_nobody_who_is_due() {
    let Scene { _server, client, node, mut radio, gateway: _gateway } =
        scene("wake-hidden", &[]).await;
    let key = sunseal_server::hex::encode(&node.signer.public_key());
    for number in 0..1_100_u64 {
        let id = format!("{number:016x}");
        let body = json!({"node_id": id, "suite": 1, "public_key": key});
        assert_eq!(client.post("/v1/nodes", body).await.0, 201);
        let hello = json!({"counter": 0, "vcap_mv": 2700, "reason": "ready", "listen_ms": 2000});
        assert_eq!(client.post(&format!("/v1/nodes/{id}/hello"), hello).await.0, 200);
        assert_eq!(client.post(&format!("/v1/nodes/{id}/challenges"), json!({})).await.0, 201);
    }
    radio.say(2 * SECOND_US, &hello(&node, Reason::Ready, 1000));
    queue(&client, &node, 10 * SECOND_US).await;
    let (mut seen, mut page, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let said = client.get(&format!("/v1/due?{page}")).await;
        assert!(said.to_string().len() <= 50_000);
        seen.extend(said["due"].as_array().unwrap().iter().map(|d| d["node_id"].clone()));
        pages += 1;
        match said["next_page"].as_str() {
            Some(next) => page = format!("page={next}"),
            None => break,
        }
    }
    assert_eq!((seen.len(), pages), (1_101, 3));
    assert!(seen.contains(&json!(node.id.to_string())));
    let named = client.get(&format!("/v1/due?nodes={},00000000000000ff", node.id)).await;
    let named: Vec<_> = named["due"].as_array().unwrap().iter().map(|d| &d["node_id"]).collect();
    assert_eq!(named, [&json!(node.id.to_string()), &json!("00000000000000ff")]);
    for wrong in
        ["nodes=12", "limit=501", "page=xyz", "nodes=00000000000000ff&page=00000000000000ff"]
    {
        assert_eq!(client.try_get(&format!("/v1/due?{wrong}")).await.0, 400, "{wrong}");
    }
    // The gateway's node is called, whoever else sleeps.
    radio.say(3 * SECOND_US, &hello(&node, Reason::Ready, 1000));
    let (train, _) = radio.called(10 * SECOND_US + 400_000);
    assert_eq!(train.start_us, 10 * SECOND_US);
}

/// Hundreds of gateways wait in one process; each hears of its own nodes, and others are served meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn gateways_that_wait_take_nobodys_place() {
    let (server, client, node) = enrolled("many-wait", &[], Suite::EcdsaP256Sha256).await;
    let waits = |number: usize| {
        let id = if number == 7 { node.id.to_string() } else { format!("{number:016x}") };
        let token = &server.tokens.gateway;
        let head = format!(
            "GET /v1/due?after=0&wait_s=25&nodes={id} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        );
        let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
        std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
        stream.set_nonblocking(true).unwrap();
        stream
    };
    let mut waiting: Vec<_> = (0..400).map(waits).collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let said = |stream: &mut std::net::TcpStream| {
        let mut text = [0; 4096];
        let count = std::io::Read::read(stream, &mut text).ok()?;
        Some(String::from_utf8_lossy(&text[..count]).into_owned())
    };
    assert!(waiting.iter_mut().all(|stream| said(stream).is_none()), "all wait");
    let asked = Instant::now();
    let fields = json!({"counter": 0, "vcap_mv": 2700, "reason": "ready", "listen_ms": 2000});
    assert_eq!(client.post(&node.path("hello"), fields).await.0, 200);
    queue(&client, &node, 0).await;
    let answer = loop {
        if let Some(answer) = said(&mut waiting[7]) {
            break answer;
        }
        assert!(asked.elapsed() < Duration::from_secs(5), "nobody is told");
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains(&node.id.to_string()),
        "{answer}"
    );
    let told = waiting.iter_mut().enumerate().filter(|(number, _)| *number != 7);
    let told = told.filter_map(|(_, stream)| said(stream)).count();
    assert_eq!(told, 0, "others were woken up for a node that is not theirs");
}
