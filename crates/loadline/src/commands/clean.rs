//! `loadline clean`: removes what killed runs left, and nothing else.

use anyhow::Result;

use crate::exit::Exit;

pub fn clean() -> Result<Exit> {
    let removed = loadline_platform::clean()?;
    for thing in &removed {
        println!("removed {thing}");
    }
    if removed.is_empty() {
        println!("nothing to remove");
    }
    Ok(Exit::Done)
}
