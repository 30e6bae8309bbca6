//! Experiment files: bytes to text to a tree, with every limit that keeps a hostile file from costing time or memory.

mod raw;

use std::io::Read;
use std::path::Path;

use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::granit_parser::ErrorKind;
use serde_saphyr::{Error, ExternalMessageSource, MessageFormatter, Spanned, UserMessageFormatter};

use crate::Experiment;
use crate::error::{Complaint, Place, SpecError};
use crate::experiment;
use crate::machine::Machine;
use crate::node::{Node, Shape};
use raw::{Raw, node, span};

/// Largest experiment file; the examples have about 1 KiB.
pub const MAX_FILE_BYTES: u64 = 1 << 20;
/// Deepest nesting of lists and maps; an experiment needs six.
const MAX_DEPTH: usize = 32;
/// Most nodes of a file, those that its aliases stand for included.
const MAX_NODES: usize = 100_000;

/// Reads the experiment file at `path`; `-` is standard input, and what its paths are relative to is the working directory then.
///
/// # Errors
/// When the file cannot be read, is not YAML, or is not a valid experiment on this machine.
pub fn from_yaml_file(path: &Path, machine: &Machine) -> Result<Experiment, SpecError> {
    from_yaml(&path.display().to_string(), &contents(path, "experiment file")?, machine)
}

/// Reads an experiment from the bytes of the file called `name`, whose folder the paths of load files are relative to.
///
/// # Errors
/// When the bytes are not YAML, or are not a valid experiment on this machine.
pub fn from_yaml(name: &str, bytes: &[u8], machine: &Machine) -> Result<Experiment, SpecError> {
    let text = text(name, bytes)?;
    let fail = |problems| SpecError::in_file(problems, name, text);
    let tree = parse(text).map_err(|(place, complaint)| fail(vec![complaint.at(&place)]))?;
    experiment::experiment(tree, Path::new(name).parent(), machine).map_err(fail)
}

/// The bytes of a file, as many as may be; `what` it is in a complaint.
pub(super) fn contents(path: &Path, what: &str) -> Result<Vec<u8>, SpecError> {
    let unreadable = |error: std::io::Error| {
        let complaint = Complaint::new(format!("cannot read the {what}: {error}")).help("check its path");
        SpecError::in_file(vec![complaint.at(&Place::File)], &path.display().to_string(), "")
    };
    let mut bytes = Vec::new();
    // One byte more than allowed is enough to know; the rest is never read.
    let file: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(std::io::stdin()),
        false => Box::new(std::fs::File::open(path).map_err(unreadable)?),
    };
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

/// The bytes of the file called `name` as text.
pub(super) fn text<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, SpecError> {
    // There is no text to show, only the file's name.
    decode(bytes).map_err(|complaint| SpecError::in_file(vec![complaint.at(&Place::File)], name, ""))
}

/// The bytes as text, without a byte order mark.
fn decode(bytes: &[u8]) -> Result<&str, Complaint> {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let complaint = Complaint::new("the file is larger than 1 MiB; an experiment has about 1 KiB");
        return Err(complaint.help("check that this is the right file"));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Complaint::new("the file is encoded as UTF-16").help("save it as UTF-8"));
    }
    // UTF-16 without its mark, or no text at all: every ASCII letter of YAML would stand beside a zero byte.
    if bytes.contains(&0) {
        let complaint = Complaint::new("the file contains zero bytes: it is UTF-16, or not text");
        return Err(complaint.help("save it as UTF-8"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        Complaint::new(format!("line {line} is not UTF-8")).help("save the file as UTF-8")
    })
}

/// The text as a tree.
pub(super) fn parse(text: &str) -> Result<Node, (Place, Complaint)> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: 2 * MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_aliases: 1_000,
            max_documents: 2,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_NODES },
        strict_booleans: true,
        reject_unsupported_tags: true,
        non_finite_float_policy: serde_saphyr::options::NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    };
    let empty = || {
        (Place::File, Complaint::new("the file is empty").help("start from one of the files in examples/"))
    };
    match serde_saphyr::from_str_with_options::<Spanned<Raw>>(text, options) {
        Ok(raw) => {
            let node = node(raw, text);
            if node.shape == Shape::Null { Err(empty()) } else { Ok(node) }
        }
        Err(_) if text.trim().is_empty() => Err(empty()),
        Err(error) => Err(explain(&error, text)),
    }
}

/// Where the library stopped, and why, in our own words where a user can act on it.
fn explain(error: &Error, text: &str) -> (Place, Complaint) {
    let place = error.location().map_or(Place::File, |location| Place::Yaml(span(&location, text)));
    let complaint = match innermost(error) {
        Error::MultipleDocuments { .. } => Complaint::new("the file contains several documents")
            .help("write one experiment per file: remove `---` and what follows"),
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            Complaint::new(format!("the key `{key}` appears twice")).help("remove one of them")
        }
        Error::UnknownAnchor { .. } => Complaint::new("an alias without an anchor")
            .help("mark its value with `&name`, or quote text that starts with `*`"),
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            Complaint::new("an alias inside its own anchor").help("write the value out")
        }
        Error::UnsupportedTag { tag, .. } => {
            Complaint::new(format!("unknown tag `{tag}`")).help("quote text that starts with `!`")
        }
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => too_deep(),
        Error::ExternalMessage { source, .. } if is_recursion_limit(source) => too_deep(),
        Error::Budget { .. }
        | Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            Complaint::new("the file or its aliases contain too many values")
                .help("write the values out, or split the experiment")
        }
        // A tab is what most often breaks YAML, and the parser's own message does not mention tabs.
        _ if leading_tab(text).is_some() => {
            let place = leading_tab(text).map_or(place, |at| Place::Yaml(at..at + 1));
            return (place, Complaint::new("a tab is used for indentation").help("indent with spaces"));
        }
        // Keys are the only nodes that must be of one kind.
        Error::Unexpected { .. } | Error::NullIntoString { .. } => {
            Complaint::new("a key must be text").help("quote it, or check the indentation")
        }
        Error::Eof { .. } => {
            Complaint::new("the file ends too early").help("close what is open: quotes, [ and {")
        }
        other => Complaint::new(format!("not YAML: {}", UserMessageFormatter.format_message(other)))
            .help("check indentation, quotes and brackets on this line and above"),
    };
    (place, complaint)
}

fn too_deep() -> Complaint {
    Complaint::new(format!("nested more than {MAX_DEPTH} deep"))
        .help("an experiment needs at most six levels")
}

/// Whether the scanner, which reads ahead of the budget, ran into its own limit of nesting.
fn is_recursion_limit(source: &ExternalMessageSource) -> bool {
    matches!(source, ExternalMessageSource::Parser(error) if matches!(error.kind(), ErrorKind::RecursionLimitExceeded))
}

fn innermost(error: &Error) -> &Error {
    match error {
        Error::AliasError { error, .. } | Error::WithSnippet { error, .. } => innermost(error),
        other => other,
    }
}

/// The place of the first tab that stands before a line's text.
fn leading_tab(text: &str) -> Option<usize> {
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let indentation = line.len() - line.trim_start_matches([' ', '\t']).len();
        if !line.trim().is_empty()
            && let Some(tab) = line[..indentation].find('\t')
        {
            return Some(line_start + tab);
        }
        line_start += line.len();
    }
    None
}
