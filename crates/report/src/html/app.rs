//! The app that is part of each page, as `ui/build` made it of `ui/src`, and what the page may do: run that one script and nothing else.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

/// What draws and listens.
pub(super) const SCRIPT: &str = include_str!("../../../../ui/dist/page.js");
/// How it looks; what is seen without scripts, too.
pub(super) const STYLE: &str = include_str!("../../../../ui/dist/page.css");

/// The Content-Security-Policy: nothing is fetched, no script runs but the app.
pub(super) fn policy() -> String {
    let hash = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
    format!(
        "default-src 'none'; script-src 'sha256-{hash}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_app_ends_it() {
        for text in ["</script", "<!--"] {
            assert!(!SCRIPT.to_lowercase().contains(text), "{text}");
        }
        assert!(!STYLE.to_lowercase().contains("</style"));
    }
}
