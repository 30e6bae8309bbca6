//! What is filled into the words of a command and into environment variables. A misspelt placeholder would reach the service as it is, and loadline would wait for
//! a service that listens elsewhere.

use crate::error::Complaint;

/// All of them, as `loadline_platform::Service::fill` knows them.
const KNOWN: [&str; 4] = ["host", "port", "limits.cpu", "limits.memory"];

/// Refuses what looks like a placeholder and is none. Braces may also be the service's own: `{"level": "info"}`, `${HOME}`, `{{name}}`.
pub(super) fn check(text: &str) -> Result<(), Complaint> {
    for (at, _) in text.match_indices('{') {
        let rest = &text[at + 1..];
        let Some(name) = rest.split('}').next().filter(|name| name.len() < rest.len()) else { continue };
        let is_name = !name.is_empty() && name.chars().all(|next| next.is_ascii_alphabetic() || next == '.');
        let is_other = text[..at].ends_with(['$', '{']) || rest[name.len()..].starts_with("}}");
        if !is_name || is_other || KNOWN.contains(&name) {
            continue;
        }
        let is_meant = |known: &&&str| strsim::damerau_levenshtein(&name.to_lowercase(), known) <= 1;
        if let Some(meant) = KNOWN.iter().find(is_meant) {
            let complaint = Complaint::new(format!("unknown placeholder `{{{name}}}`"));
            return Err(complaint.help(format!("did you mean `{{{meant}}}`?")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_placeholder_is_refused() {
        for text in ["{prot}", "--port={ports}", "{hots}:{port}", "{limit.cpu}", "{PORT}"] {
            assert!(check(text).is_err(), "{text}");
        }
    }

    #[test]
    fn braces_of_the_services_own_are_left_alone() {
        for text in [
            "{host}:{port}",
            "{limits.memory}",
            "{\"port\": 1}",
            "${PORT}",
            "{{port}}",
            "{print}",
            "{",
            "{}",
            "{x",
        ] {
            assert!(check(text).is_ok(), "{text}");
        }
    }
}
