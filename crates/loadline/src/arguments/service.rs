//! The flags that say what is measured: a service and its requests.

use std::path::PathBuf;

use clap::Args;
use loadline_spec::Flags;

use crate::exit::UsageError;

/// The service and its requests.
#[derive(Args)]
pub(super) struct ServiceFlags {
    /// Built-in service with its arguments: orders, hello or cpu; 'orders --delay 200us'; or a reference service that `make services`
    /// built, with its mode: 'quarkus virtual' [default: orders, unless --command, --image or a URL says what is measured]
    #[arg(long, value_name = "LINE", help_heading = "What")]
    pub service: Vec<String>,
    /// Your own service, started without a shell; {host} and {port} are replaced by the address to listen on;
    /// 'NAME: COMMAND' names it
    #[arg(long, value_name = "LINE", help_heading = "What")]
    pub command: Vec<String>,
    /// Measure each service whose line has {NAME} with each of these values: --vary threads=1,4; repeat for more
    #[arg(long, value_name = "NAME=VALUES", help_heading = "What")]
    pub vary: Vec<String>,
    /// Request: '/path', 'POST /path' or, with its weight, '3 GET /path'; repeat for a mix
    #[arg(long, value_name = "REQUEST", help_heading = "What")]
    request: Vec<String>,
    /// Header of all requests, 'Name: value'; repeat for more
    #[arg(long, short = 'H', value_name = "HEADER", help_heading = "What")]
    header: Vec<String>,
    /// Body; requests with POST, PUT and PATCH get it, and without a --request it is posted
    #[arg(long, value_name = "TEXT", help_heading = "What", conflicts_with = "body_file")]
    body: Option<String>,
    /// File with the body, as UTF-8 text
    #[arg(long, value_name = "FILE", help_heading = "What")]
    body_file: Option<PathBuf>,
    /// What a response must have: status=2xx, header:NAME, header:NAME~TEXT, body=TEXT or body~TEXT; repeat for more
    /// [default: status=2xx]
    #[arg(long, value_name = "CHECK", help_heading = "What")]
    expect: Vec<String>,
}

impl ServiceFlags {
    /// Whether none was given.
    pub fn are_absent(&self) -> bool {
        let lists = [&self.service, &self.command, &self.vary, &self.request, &self.header, &self.expect];
        lists.iter().all(|given| given.is_empty()) && self.body.is_none() && self.body_file.is_none()
    }

    /// Puts them into the flags of the spec.
    ///
    /// # Errors
    /// When the file with the body cannot be read.
    pub fn fill(&self, flags: &mut Flags) -> Result<(), UsageError> {
        flags.services = self.service.clone();
        flags.commands = self.command.clone();
        flags.vary = self.vary.clone();
        flags.requests = self.request.clone();
        flags.headers = self.header.clone();
        flags.body = self.body.clone();
        if let Some(path) = &self.body_file {
            let read = std::fs::read_to_string(path);
            let failed = |error| UsageError(format!("cannot read the body {}: {error}", path.display()));
            flags.body = Some(read.map_err(failed)?);
        }
        flags.expect = self.expect.clone();
        Ok(())
    }
}

/// With the default service, `orders`, unless one is named, or what is measured is an image or runs already at all URLs.
pub fn or_orders(mut flags: Flags) -> Flags {
    let is_named = !flags.services.is_empty() || !flags.commands.is_empty();
    let are_urls = flags.on.iter().all(|on| on.contains("://"));
    if !is_named && !are_urls && !flags.has("--image") {
        flags.services = vec!["orders".to_owned()];
    }
    flags
}
