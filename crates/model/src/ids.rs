//! What the lists of an experiment and of its plan are indexed by: a number each, and no two kinds can be mistaken for each other.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! id {
    ($name:ident, $what:literal) => {
        #[doc = $what]
        #[derive(
            Clone,
            Copy,
            Debug,
            Default,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Hash,
            Serialize,
            Deserialize,
            JsonSchema,
        )]
        #[serde(transparent)]
        pub struct $name(pub usize);

        impl $name {
            /// The ids of a list of this length.
            pub fn of(length: usize) -> impl ExactSizeIterator<Item = $name> + DoubleEndedIterator + Clone {
                (0..length).map($name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(ServiceId, "A service of an experiment.");
id!(PlatformId, "A platform of an experiment.");
id!(LoadId, "A load of an experiment.");
id!(SiteId, "A site of a plan: a service on a platform, deployed once a round.");
id!(CellId, "A cell of a plan: a site under a load.");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_written_as_its_number() {
        assert_eq!(serde_json::to_string(&[CellId(3), CellId(0)]).unwrap(), "[3,0]");
        assert_eq!(serde_json::from_str::<LoadId>("7").unwrap(), LoadId(7));
        assert_eq!(SiteId(2).to_string(), "2");
        assert_eq!(schemars::schema_for!(CellId).get("type").unwrap(), "integer");
    }
}
