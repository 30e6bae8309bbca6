//! One module per command; each turns arguments into calls of the libraries and a result into an exit code.

mod agent;
mod clean;
mod decide;
mod doctor;
mod experiment;
mod history;
mod image;
mod init;
mod load;
mod machine;
mod plan;
mod report;
mod schema;
mod serve;
mod shell;
mod store;
mod stored;
mod try_out;
mod ui;

pub use agent::agent;
pub use clean::clean;
pub use decide::decide;
pub use doctor::doctor;
pub use experiment::{capacity, compare, layers, run};
pub use history::history;
pub use image::image;
pub use init::init;
pub use load::load;
pub use plan::plan;
pub use report::report;
pub use schema::schema;
pub use serve::serve;
pub use shell::{completions, man};
pub use store::store;
pub use try_out::try_out;
pub use ui::ui;
