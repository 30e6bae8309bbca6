//! `loadline report`: a run again, from the store, without running anything.

use anyhow::Result;
use loadline_store::Store;

use crate::arguments::ReportArguments;
use crate::exit::Exit;
use crate::outputs;

pub fn report(arguments: &ReportArguments) -> Result<Exit> {
    let store = Store::open(&arguments.outputs.store)?;
    if arguments.list {
        for (id, name, started) in store.runs()? {
            println!("{id:>4}  {started}  {name}");
        }
        return Ok(Exit::Done);
    }
    let result = outputs::analyse(&store, arguments.run)?;
    outputs::write(&result, &store, &arguments.outputs)?;
    Ok(outputs::exit_of(&result))
}
