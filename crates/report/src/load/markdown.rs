//! The result of a load as Markdown, for an issue or a pull request.

use loadline_model::result::load::LoadResult;

use super::rows::{HEADINGS, counts, distrust, ended, head, rows};
use crate::markdown::escape;

/// The result as Markdown (GitHub flavour), ending with a line break.
pub fn markdown(result: &LoadResult) -> String {
    let mut text = format!("## {}\n\n", escape(&result.options.url));
    for sentence in distrust(result) {
        text += &format!("> **Not to be trusted: {}**\n\n", escape(&sentence));
    }
    text += &format!("{}\n\n", escape(&head(&result.options)));
    if let Some(ended) = ended(result) {
        text += &format!("**{}**\n\n", escape(&ended));
    }
    text += &format!("{}\n\n", escape(&counts(result)));
    text += &format!("| | {} | |\n|---|{}---|\n", HEADINGS.join(" | "), "--:|".repeat(HEADINGS.len()));
    for row in rows(result) {
        text += &format!("| {} | {} | {} |\n", row.name, row.figures.join(" | "), escape(&row.meaning));
    }
    let command = shlex::try_join(result.command_line.iter().map(String::as_str));
    // A word with a NUL byte in it can't have been typed.
    if let Ok(command) = command {
        text += &format!("\n```sh\n{command}\n```\n");
    }
    text
}
