//! What was measured, and the Markdown file that it becomes: the answer first, then how it came about.

mod bars;
mod details;
mod table;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use crate::arguments::Effort;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::rate::{Fixed, Poisson};
use crate::saturation::Saturation;
use table::table;

/// Everything that was measured until now.
pub struct Results {
    /// Where.
    pub machine: Machine,
    /// Name and version of every contestant.
    pub contestants: Vec<(String, String)>,
    /// How much was measured.
    pub effort: Effort,
    /// Closed loops.
    pub saturation: Vec<Saturation>,
    /// Fixed rates.
    pub fixed: Vec<Fixed>,
    /// Poisson arrivals.
    pub poisson: Option<Poisson>,
    /// Memory.
    pub memory: Option<Memory>,
    /// Cost of recording a request, ns.
    pub recording_ns: Option<f64>,
}

impl Results {
    /// Writes the file; `-` is standard output.
    pub fn write(&self, output: &Path) -> Result<()> {
        let text = self.markdown();
        if output == Path::new("-") {
            print!("{text}");
            return Ok(());
        }
        std::fs::write(output, text).with_context(|| format!("cannot write {}", output.display()))
    }

    fn markdown(&self) -> String {
        let mut text = String::from("# loadline beside other load generators\n\n");
        text += "Written by `make bench`, on one machine; see below for which. Figures of one run of it belong together, \
                 those of different machines do not.\n\n";
        if self.effort.quick {
            text += "**A quick run, to see that everything works: the figures are worth nothing.**\n\n";
        }
        text += &self.answer();
        text += &self.the_machine();
        text += &details::saturation(&self.saturation);
        text += &details::fixed(&self.fixed);
        text += &details::poisson(self.poisson.as_ref());
        text += &details::memory(self.memory.as_ref());
        text += &self.commands();
        text
    }

    fn answer(&self) -> String {
        let bars = bars::all(self);
        let met = bars.iter().filter(|bar| bar.met == Some(true)).count();
        let judged = bars.iter().filter(|bar| bar.met.is_some()).count();
        let rows = bars.iter().map(|bar| {
            let verdict = match bar.met {
                Some(true) => "yes",
                Some(false) => "**no**",
                None => "not known here",
            };
            vec![bar.what.clone(), bar.bar.to_owned(), bar.seen.clone(), verdict.to_owned()]
        });
        format!(
            "{met} of {judged} bars are met. A figure is the median of {} rounds, with the smallest and the largest in \
             brackets.\n\n{}\n",
            self.effort.rounds,
            table(&["loadline", "bar", "seen", "met"], rows)
        )
    }

    fn the_machine(&self) -> String {
        let machine = &self.machine;
        let stolen =
            machine.stolen_share().map_or("unknown".to_owned(), |share| format!("{:.2} %", share * 100.0));
        let mut rows = vec![
            ("CPUs".to_owned(), machine.cpus.clone()),
            ("kernel".to_owned(), machine.kernel.clone()),
            ("server".to_owned(), format!("nginx {}", machine.server)),
            ("date".to_owned(), machine.started.strftime("%Y-%m-%d %H:%M UTC").to_string()),
            ("load average before it began".to_owned(), machine.load_average.clone()),
            ("CPU time stolen by the hypervisor during it".to_owned(), stolen),
        ];
        rows.extend(self.contestants.iter().cloned());
        let rows = rows.into_iter().map(|(what, value)| vec![what, value]);
        format!(
            "## The machine\n\n{}\nnginx has one worker on one CPU, the generator the other. Both are in a network \
             namespace of their own and talk over its loopback device, where nobody else does. Every generator gets the \
             same requests answered: a response with a body of {} bytes.\n\n",
            table(&["", ""], rows),
            crate::server::BODY
        )
    }

    fn commands(&self) -> String {
        let mut text = String::from(
            "## The commands\n\nEach is started with `setpriv --pdeathsig KILL taskset --cpu-list CPU` before it.\n\n```\n",
        );
        let closed = self.saturation.iter().flat_map(|table| table.rows.iter().map(|row| &row.command));
        let fixed = self.fixed.iter().flat_map(|table| table.rows.iter().map(|row| &row.command));
        let poisson = self.poisson.iter().map(|poisson| &poisson.command);
        let memory = self.memory.iter().flat_map(|memory| {
            let opened = [&memory.connections].into_iter().chain(&memory.most).chain([&memory.many]);
            opened.map(|opened| &opened.command).chain([&memory.flat.command])
        });
        for command in closed.chain(fixed).chain(poisson).chain(memory) {
            // Writing to a string can't fail.
            let _ = writeln!(text, "{command}");
        }
        text += "```\n";
        text
    }
}
