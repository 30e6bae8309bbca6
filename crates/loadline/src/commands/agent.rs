//! `loadline agent`: the engine and the observers for a loadline elsewhere, until it is told to stop.

use std::io::Write;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::arguments::AgentArguments;
use crate::exit::{Exit, UsageError};

pub fn agent(arguments: &AgentArguments) -> Result<Exit> {
    let address = arguments.listen;
    if !address.ip().is_loopback() {
        let sentence = format!(
            "an agent obeys whoever can connect to it, and {} is not a loopback address: listen on 127.0.0.1:{}, which a \
            port-forward reaches",
            address.ip(),
            address.port()
        );
        return Err(UsageError(sentence).into());
    }
    // Before the port opens, so that who sees it open can already stop the agent.
    let (end, signalled) = UnixStream::pair().context("cannot create a socket")?;
    for signal in [SIGINT, SIGTERM] {
        signal_hook::low_level::pipe::register(signal, signalled.try_clone()?)?;
    }
    let listener = TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
    let mut stdout = std::io::stdout().lock();
    // Whoever started the agent may have closed its output, which is no reason not to serve.
    let _ = writeln!(stdout, "listening on {}", listener.local_addr()?).and_then(|()| stdout.flush());
    drop(stdout);
    loadline_agent::serve(&listener, &end)?;
    Ok(Exit::Done)
}
