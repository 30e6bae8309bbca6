//! The arguments of `loadline serve`.

use std::net::SocketAddr;

use clap::{Args, Subcommand};

#[derive(Args)]
pub struct ServeArguments {
    #[command(subcommand)]
    pub service: ServeCommand,
}

#[derive(Subcommand)]
pub enum ServeCommand {
    /// GET /api/orders: a list of orders as JSON
    Orders {
        /// How many orders; 12 are about 1 KB
        #[arg(long, default_value_t = 12)]
        orders: usize,
        /// Simulated delay: 200us, or a range over which requests are spread evenly: 1ms..5ms
        #[arg(long, value_name = "TIME")]
        delay: Option<loadline_services::Delay>,
        /// Work on at most N requests at once and let the others wait; with --delay, its capacity is then known
        #[arg(long, value_name = "N")]
        at_once: Option<std::num::NonZeroUsize>,
        #[command(flatten)]
        common: ServeOptions,
    },
    /// GET /hello/KEY: a look-up in a concurrent cache
    Hello {
        #[command(flatten)]
        common: ServeOptions,
    },
    /// GET /cpu?n=N: the N-th Fibonacci number, recursively
    Cpu {
        #[command(flatten)]
        common: ServeOptions,
    },
}

#[derive(Args, Clone)]
pub struct ServeOptions {
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// Do not answer for part of every period: 1s/10s shows what coordinated omission hides
    #[arg(long, value_name = "LENGTH/EVERY")]
    pub stall: Option<loadline_services::Stall>,
}
