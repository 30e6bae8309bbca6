//! Names: what one may look like, and that no two are alike.

use std::collections::HashSet;

use loadline_model::printable;

use crate::error::{Complaint, Place, Problems};

/// Longest name; a table column holds fewer.
const MAX_NAME_CHARS: usize = 100;

/// Reads a name that tables can show.
pub(crate) fn name(text: &str) -> Result<String, Complaint> {
    let name = text.trim();
    if name.is_empty() {
        return Err(Complaint::new("the name is empty").help("give it one, or leave the key out"));
    }
    if name.chars().count() > MAX_NAME_CHARS {
        return Err(Complaint::new(format!("the name is longer than {MAX_NAME_CHARS} characters"))
            .help("tables show it in a column: keep it short"));
    }
    if name.contains(['\n', '\t']) || printable(name) != name {
        return Err(Complaint::new("the name contains a line break or another control character")
            .help("write it on one line"));
    }
    Ok(name.to_owned())
}

/// Notes each name that was there before; `what` is the plural of what is named.
pub(super) fn unique<'a>(
    what: &str,
    names: impl IntoIterator<Item = (&'a str, &'a Place)>,
    help: &str,
    problems: &mut Problems,
) {
    let mut seen = HashSet::new();
    for (name, place) in names {
        if !seen.insert(name) {
            problems.add(place, Complaint::new(format!("two {what} are named `{name}`")).help(help));
        }
    }
}
