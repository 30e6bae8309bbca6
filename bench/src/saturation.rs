//! The closed loop at full speed: the generator's cost per request, and its throughput.

use std::time::Duration;

use anyhow::{Context, Result};

use crate::arguments::Effort;
use crate::contestant::{Contestant, Job, Load};
use crate::place::Place;
use crate::server::Server;
use crate::turns::{order, turn};

/// Connections of each table.
const CONNECTIONS: [usize; 2] = [32, 256];
/// The contestant that all ratios refer to.
pub const REFERENCE: &str = "wrk";
/// Of loadline and what it is compared with.
const TIME: Duration = Duration::from_secs(3);
/// Of the others, whose differences are larger by far.
const SHORT_TIME: Duration = Duration::from_secs(2);
/// By how much an account and the server's count of the same requests may differ, besides those in flight at the end.
const MISCOUNT: f64 = 0.01;

/// One table.
pub struct Saturation {
    /// Connections kept open.
    pub connections: usize,
    /// A row for each contestant.
    pub rows: Vec<Row>,
}

/// The figures of a contestant, round by round.
pub struct Row {
    /// Contestant.
    pub name: String,
    /// The command.
    pub command: String,
    /// User and system time per request, ns.
    pub cpu_ns: Vec<f64>,
    /// Requests per second.
    pub per_second: Vec<f64>,
    /// Rounds in which its count of requests was not the server's.
    pub miscounts: u32,
}

impl Saturation {
    /// The row of a contestant.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }
}

/// Measures every table.
pub fn measure(
    contestants: &[&dyn Contestant],
    place: &Place,
    server: &Server,
    effort: Effort,
) -> Result<Vec<Saturation>> {
    CONNECTIONS.iter().map(|connections| table(*connections, contestants, place, server, effort)).collect()
}

fn table(
    connections: usize,
    contestants: &[&dyn Contestant],
    place: &Place,
    server: &Server,
    effort: Effort,
) -> Result<Saturation> {
    let job = |name: &str| {
        let time = if ["loadline", REFERENCE, "bare epoll loop"].contains(&name) { TIME } else { SHORT_TIME };
        Job { load: Load::Closed, connections, time: effort.time(time) }
    };
    let mut able = Vec::new();
    let mut rows = Vec::new();
    for contestant in contestants {
        let name = contestant.name().to_owned();
        if let Some(command) = contestant.invocation(&job(&name), place.folder())? {
            able.push(*contestant);
            let command = command.to_string();
            rows.push(Row { name, command, cpu_ns: Vec::new(), per_second: Vec::new(), miscounts: 0 });
        }
    }
    for round in 0..effort.rounds {
        for index in order(able.len(), round) {
            let (contestant, row) = (able[index], &mut rows[index]);
            eprintln!("closed loop, {connections} connections, round {}: {}", round + 1, row.name);
            let before = server.counts()?.requests;
            let turn = turn(contestant, &job(&row.name), place)?
                .context("a contestant that worked before fails now")?;
            // The query itself was counted as well.
            let served = (server.counts()?.requests - before).saturating_sub(1);
            let difference = served.abs_diff(turn.account.requests) as f64;
            row.miscounts += u32::from(difference > served as f64 * MISCOUNT + connections as f64);
            row.cpu_ns.push(turn.cpu.as_nanos() as f64 / served.max(1) as f64);
            row.per_second.push(turn.account.per_second);
        }
    }
    Ok(Saturation { connections, rows })
}
