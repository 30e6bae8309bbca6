//! Waiting until no other loadline of this user measures on this machine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;
use loadline_machine::{MeasuringTurn, Registry, Turn};

use crate::streams::tell;

const LOOKS_EVERY: Duration = Duration::from_millis(200);

/// What a process that measures holds; nothing if it does so beside others.
pub struct HeldTurn(#[expect(dead_code, reason = "it is held, not read")] Option<MeasuringTurn>);

/// Waits for the turn, unless the user measures `anyway`; `None` if that was interrupted.
pub fn wait_for_turn(anyway: bool, stop: &AtomicBool) -> Result<Option<HeldTurn>> {
    if anyway {
        return Ok(Some(HeldTurn(None)));
    }
    let registry = Registry::of_this_user()?;
    let mut is_told = false;
    while !stop.load(Ordering::Relaxed) {
        let holder = match registry.take_turn()? {
            Turn::Ours(turn) => return Ok(Some(HeldTurn(Some(turn)))),
            Turn::Busy(holder) => holder,
        };
        if !std::mem::replace(&mut is_told, true) {
            let process = holder.map(|pid| format!(" (process {pid})")).unwrap_or_default();
            tell(format_args!(
                "another loadline{process} is measuring on this machine: waiting until it has ended; --anyway measures beside it, which disturbs both"
            ));
        }
        sleep(LOOKS_EVERY);
    }
    Ok(None)
}
