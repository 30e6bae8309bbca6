//! `loadline clean`: removes what killed runs left, and nothing else.

use anyhow::Result;

use crate::exit::Exit;
use crate::streams::print;

pub fn clean() -> Result<Exit> {
    let mut removed = Vec::new();
    let outcome = loadline_machine::clean(&loadline_platforms::cleaners(), &mut removed);
    for thing in &removed {
        print(format_args!("removed {thing}"))?;
    }
    outcome?;
    if removed.is_empty() {
        print("nothing to remove")?;
    }
    Ok(Exit::Done)
}
