// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fields of a request's body.

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// An object in which no field stands twice: of two, serde_json alone would take the last.
pub(super) struct Fields(pub Map<String, Value>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Once)
    }
}

struct Once;

impl<'de> Visitor<'de> for Once {
    type Value = Fields;

    fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if fields.contains_key(&name) {
                return Err(A::Error::custom(format_args!("field `{name}` stands twice")));
            }
            fields.insert(name, map.next_value()?);
        }
        Ok(Fields(fields))
    }
}
