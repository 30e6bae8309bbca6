//! Claims: a text, the cells that it is about, and what it says of them.

use super::one_or_more;
use crate::draft::{ClaimDraft, WhereDraft};
use crate::error::Problems;
use crate::node::Node;

pub(super) fn claim(node: Node, problems: &mut Problems) -> Option<ClaimDraft> {
    let mut fields = node.fields("claim", problems)?;
    let draft = ClaimDraft {
        place: fields.place.clone(),
        text: fields.text("text", problems),
        cells: fields.take("where").and_then(|node| cells(node, problems)),
        metric: fields.text("metric", problems),
        difference: fields.text("difference", problems),
        closes: fields.text("closes", problems),
    };
    fields.finish(&[], problems);
    Some(draft)
}

fn cells(node: Node, problems: &mut Problems) -> Option<WhereDraft> {
    let mut fields = node.fields("where", problems)?;
    let draft = WhereDraft {
        place: fields.place.clone(),
        platform: fields.text("platform", problems),
        service: fields.text("service", problems),
        rate: fields.take("rate").and_then(|node| one_or_more(node, "rate", problems)),
        closed: fields.text("closed", problems),
    };
    fields.finish(&[], problems);
    Some(draft)
}
