// SPDX-License-Identifier: MIT OR Apache-2.0
//! The description of the interface for programs, held to the code: paths, methods, roles, and what answers look like.

mod common;

use std::collections::BTreeSet;

use common::*;
use serde_json::{Value, json};
use sunseal_link::Suite;

fn document() -> Value {
    serde_json::from_str(include_str!("../openapi.json")).unwrap()
}

/// Paths, methods and roles as the router's source has them.
fn routes() -> BTreeSet<(String, String, Option<String>)> {
    let source = include_str!("../src/api.rs");
    let begin = source.find("pub fn router(").unwrap();
    let source = &source[begin..begin + source[begin..].find("\n}\n").unwrap()];
    let mut found = BTreeSet::new();
    for block in source.split("Router::new()").skip(1) {
        let role =
            block.split("only(Role::").nth(1).map(|r| r.split(')').next().unwrap().to_lowercase());
        for route in block.split(".route(").skip(1) {
            let (path, rest) = route.split_once(',').unwrap();
            let path =
                path.trim().replace("import::IMPORT_PATH", "/v1/nodes/import").replace('"', "");
            let rest = rest.split("\n        .").next().unwrap();
            for method in ["get", "post"] {
                if rest.contains(&format!("{method}(")) {
                    found.insert((path.clone(), method.to_owned(), role.clone()));
                }
            }
        }
    }
    found
}

#[test]
fn every_route_is_described_and_nothing_else() {
    let document = document();
    let mut described = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, told) in methods.as_object().unwrap() {
            let role = told["x-role"].as_str().map(str::to_owned);
            described.insert((path.clone(), method.clone(), role));
        }
    }
    let routes = routes();
    assert!(routes.len() > 20, "{routes:?}");
    assert_eq!(routes, described);
}

/// A value against the part of JSON Schema that the document uses.
fn fits(document: &Value, schema: &Value, value: &Value, at: &str) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap();
        return fits(document, &document["components"]["schemas"][name], value, at);
    }
    if let Some(ways) = schema["oneOf"].as_array() {
        let way = ways.iter().find(|way| (way["type"] == "null") == value.is_null()).unwrap();
        return fits(document, way, value, at);
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        several => several.as_array().unwrap().iter().map(|t| t.as_str().unwrap()).collect(),
    };
    assert!(
        types.contains(&kind) || (kind == "integer" && types.contains(&"number")),
        "{at}: {value} is not {types:?}"
    );
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{at}: {value}");
    }
    for item in value.as_array().into_iter().flatten() {
        fits(document, &schema["items"], item, &format!("{at}[]"));
    }
    let Some(fields) = value.as_object() else { return };
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(fields.contains_key(name.as_str().unwrap()), "{at}: {name} is missing in {value}");
    }
    for (name, field) in fields {
        let known = schema["properties"].get(name).or_else(|| schema.get("additionalProperties"));
        match known {
            Some(known) => fits(document, known, field, &format!("{at}.{name}")),
            None => assert!(schema.get("properties").is_none(), "{at}: {name} is not described"),
        }
    }
}

#[tokio::test]
async fn answers_are_as_they_are_described() {
    let (server, mut client, node) = enrolled("described", &[], Suite::EcdsaP256Sha256).await;
    let document = document();
    let check = |path: &str, method: &str, (status, said): &(u16, Value)| {
        let responses = &document["paths"][path][method]["responses"];
        let told = responses.get(status.to_string()).or_else(|| responses.get("default"));
        let schema = &told.unwrap_or_else(|| panic!("{path}: {status}"))["content"]["application/json"]
            ["schema"];
        fits(&document, schema, said, path);
    };
    let (_, made) = client.post("/v1/tokens", json!({"role": "gateway", "name": "g"})).await;
    check("/v1/tokens", "post", &(201, made.clone()));
    let gateway = Client::with_token(&server, made["token"].as_str().unwrap());
    client.post(&node.path("change"), json!({"period_us": 1})).await;
    check(
        "/v1/nodes/{node_id}/challenges",
        "post",
        &client.post(&node.path("challenges"), json!({})).await,
    );
    check(
        "/v1/nodes/{node_id}/challenges",
        "post",
        &client.post("/v1/nodes/00000000000000ff/challenges", json!({})).await,
    );
    client.ask(&node).await;
    let hello = gateway.send(&node.hello()).await;
    check("/v1/nodes/{node_id}/hello", "post", &hello);
    let answer = node.response(challenge_of(&hello.1).unwrap(), 1);
    check("/v1/nodes/{node_id}/responses", "post", &gateway.send(&answer).await);
    check("/v1/nodes/{node_id}/reports", "post", &gateway.send(&node.report(b"x", 2)).await);
    check("/v1/nodes/{node_id}/wake", "post", &client.post(&node.path("wake"), json!({})).await);
    client.time_us += 900_000_000;
    for path in [
        "/healthz",
        "/v1/openapi.json",
        "/v1/summary",
        "/v1/nodes",
        "/v1/events",
        "/v1/queue",
        "/v1/gateways",
        "/v1/tokens",
        "/v1/due",
    ] {
        check(path, "get", &client.try_get(path).await);
    }
    check("/v1/nodes/{node_id}", "get", &client.try_get(&format!("/v1/nodes/{}", node.id)).await);
    check(
        "/v1/nodes/{node_id}/revoke",
        "post",
        &client.post(&node.path("revoke"), json!({})).await,
    );
}
