//! The name of a run: six hexadecimal digits that everything created for it carries.
//! It is short because a link name has at most 15 characters and an iptables chain name 28.

use std::{
    fmt,
    hash::{BuildHasher, Hasher, RandomState},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

/// A text that is not a run name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a run name (six digits of 0-9 and a-f)")]
pub struct BadRunName(String);

/// Six lower-case hexadecimal digits, such as `3fa90c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunName(u32);

impl RunName {
    /// A name that no other run is likely to have; the registry detects a collision.
    pub fn random() -> RunName {
        // The keys of a RandomState come from the operating system's random source.
        let bits = RandomState::new().build_hasher().finish();
        RunName((bits & 0xff_ffff) as u32)
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:06x}", self.0)
    }
}

impl FromStr for RunName {
    type Err = BadRunName;

    fn from_str(text: &str) -> Result<RunName, BadRunName> {
        let valid = text.len() == 6 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        match u32::from_str_radix(text, 16) {
            Ok(bits) if valid => Ok(RunName(bits)),
            _ => Err(BadRunName(text.to_owned())),
        }
    }
}

impl TryFrom<String> for RunName {
    type Error = BadRunName;

    fn try_from(text: String) -> Result<RunName, BadRunName> {
        text.parse()
    }
}

impl From<RunName> for String {
    fn from(run: RunName) -> String {
        run.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_formatted_name_parses_to_the_same_name(bits in 0u32..=0xff_ffff) {
            let run = RunName(bits);
            prop_assert_eq!(run.to_string().parse::<RunName>().unwrap(), run);
        }

        #[test]
        fn what_parses_is_formatted_as_it_was(text in "\\PC{0,8}") {
            if let Ok(run) = text.parse::<RunName>() {
                prop_assert_eq!(run.to_string(), text);
            }
        }
    }

    #[test]
    fn names_that_could_escape_a_folder_or_a_rule_are_rejected() {
        for text in ["", "../../", "12345", "1234567", "ABCDEF", "+12345", "12 456"] {
            assert!(text.parse::<RunName>().is_err(), "{text:?}");
        }
    }
}
