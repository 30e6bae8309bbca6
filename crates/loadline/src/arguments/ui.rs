//! The arguments of `loadline ui`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
pub struct UiArguments {
    /// Address to listen on; port 0 takes a free one. One that others can reach needs --certificate and --key, or --plain-http
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7667")]
    pub listen: SocketAddr,
    /// A name by which browsers know this server, beside its address; repeat for more
    #[arg(long, value_name = "NAME")]
    pub name: Vec<String>,
    /// Certificate to prove that name with, and those that it was signed with (PEM)
    #[arg(long, value_name = "FILE", requires = "key")]
    pub certificate: Option<PathBuf>,
    /// Key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub key: Option<PathBuf>,
    /// Let other machines reach it without TLS. Anyone who reads that traffic can start programs as this user
    #[arg(long, conflicts_with = "certificate")]
    pub plain_http: bool,
    /// File with the token that users must show, instead of one drawn anew
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// File in which runs are stored
    #[arg(long, value_name = "FILE", default_value = "loadline.db", env = "LOADLINE_STORE", hide_env = true)]
    pub store: PathBuf,
}
