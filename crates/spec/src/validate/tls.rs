//! What a client does where TLS is spoken.

use std::path::{Path, PathBuf};

use loadline_model::load::{ClientIdentity, TlsOptions};

use super::choices::switch;
use super::way_out;
use crate::draft::TlsDraft;
use crate::error::{Complaint, Problems};
use crate::files::existing;

/// The options, with paths of files that exist.
pub(super) fn tls(
    draft: &TlsDraft,
    folder: Option<&Path>,
    problems: &mut Problems,
) -> Option<TlsOptions<PathBuf>> {
    let before = problems.count();
    let mut file = |text: &Option<_>| text.as_ref().and_then(|text| existing(folder, text, problems));
    let (ca, certificate, key) = (file(&draft.ca), file(&draft.cert), file(&draft.key));
    if let (Some(given), None) | (None, Some(given)) = (&draft.cert, &draft.key) {
        let help =
            way_out(&given.place, "write `cert` and `key`, each a PEM file", "give both --cert and --key");
        let complaint = Complaint::new("a client's certificate and its key belong together");
        problems.add(&given.place, complaint.help(help));
    }
    let mut is_on =
        |text: &Option<_>| text.as_ref().and_then(|text: &crate::draft::Text| text.read(problems, switch));
    let (insecure, resumption) = (is_on(&draft.insecure), is_on(&draft.resumption));
    let options = TlsOptions {
        ca,
        identity: certificate.zip(key).map(|(certificate, key)| ClientIdentity { certificate, key }),
        server_name: draft.server_name.as_ref().map(|name| name.value.trim().to_owned()),
        insecure: insecure.unwrap_or(false),
        no_resumption: !resumption.unwrap_or(true),
    };
    (problems.count() == before).then_some(options)
}
