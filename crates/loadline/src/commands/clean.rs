//! `loadline clean`: removes what killed runs left, and nothing else.

use anyhow::Result;

use crate::exit::Exit;

pub fn clean() -> Result<Exit> {
    let mut removed = Vec::new();
    let outcome = loadline_machine::clean(&loadline_platforms::cleaners(), &mut removed);
    for thing in &removed {
        println!("removed {thing}");
    }
    outcome?;
    if removed.is_empty() {
        println!("nothing to remove");
    }
    Ok(Exit::Done)
}
