//! `loadline schema`: the JSON Schemas that this version reads and writes.

use anyhow::Result;

use crate::arguments::SchemaOf;
use crate::exit::Exit;
use crate::streams::print;

pub fn schema(which: SchemaOf) -> Result<Exit> {
    let schema = match which {
        SchemaOf::Experiment => loadline_spec::experiment_schema(),
        SchemaOf::Result => loadline_report::result_schema(),
        SchemaOf::Load => loadline_report::load::schema(),
        SchemaOf::Doctor => loadline_report::doctor::schema(),
        SchemaOf::History => loadline_report::history_schema(),
        SchemaOf::Api => loadline_web::description(),
    };
    print(format_args!("{schema:#}"))?;
    Ok(Exit::Done)
}
