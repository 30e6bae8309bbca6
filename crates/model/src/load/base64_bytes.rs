//! Bytes as base64 in JSON, where a list of numbers would be three times as long.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

pub fn serialize<S: Serializer>(bytes: impl AsRef<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
}

pub fn deserialize<'de, D: Deserializer<'de>, B: From<Vec<u8>>>(deserializer: D) -> Result<B, D::Error> {
    let text = String::deserialize(deserializer)?;
    BASE64_STANDARD.decode(text).map(B::from).map_err(D::Error::custom)
}
