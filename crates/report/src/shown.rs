//! A figure as a table shows it: its text, how it should look, and what it rests on, which a page opens.

use loadline_model::CellId;
use loadline_model::experiment::CAPACITY;
use loadline_model::result::{Cell, Contrast, Figure, Row, RunResult};

use crate::verdict::Tone;

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    pub text: String,
    pub tone: Tone,
    pub rests_on: Option<RestsOn>,
}

/// Where a result holds what a figure rests on.
#[derive(Clone, Debug)]
pub(crate) enum RestsOn {
    /// A cell, and the metric of its figure.
    Cell(CellId, String),
    /// A contrast by its place in the result, and the metric of its row.
    Contrast(usize, String),
    /// The trials of a search in this cell.
    Trials(CellId),
}

impl Shown {
    /// Text as it is.
    pub fn plain(text: impl Into<String>) -> Shown {
        Shown { text: text.into(), ..Shown::default() }
    }

    /// The same, resting on this.
    pub fn on(self, rests_on: impl Into<Option<RestsOn>>) -> Shown {
        Shown { rests_on: rests_on.into(), ..self }
    }
}

impl RestsOn {
    /// What a cell's own figure rests on.
    pub fn figure(cell: &Cell, figure: &Figure) -> RestsOn {
        match figure.metric == CAPACITY {
            true => RestsOn::Trials(cell.id),
            false => RestsOn::Cell(cell.id, figure.metric.clone()),
        }
    }

    /// What a row of one of the result's contrasts rests on.
    pub fn row(result: &RunResult, contrast: &Contrast, row: &Row) -> Option<RestsOn> {
        let at = result.contrasts.iter().position(|other| std::ptr::eq(other, contrast))?;
        Some(RestsOn::Contrast(at, row.metric.clone()))
    }
}

/// The texts of a table.
pub(crate) fn texts(rows: &[Vec<Shown>]) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.iter().map(|shown| shown.text.clone()).collect()).collect()
}
