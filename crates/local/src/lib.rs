//! Platforms of this machine: [`Host`], a plain process; [`Local`], a process behind chosen layers, the path that a container platform
//! builds; and [`External`], a service that is already running elsewhere.
//!
//! Rules apply to the node as a whole, as they are on a real node: with a node port or published port deployed, the kernel tracks the
//! connections of `host` deployments of the same run as well. Where each path must be isolated, as on a ladder of layers,
//! [`Local::own_node`] gives a deployment a node of its own, connected to the client by a wire of its own; some layers are available on
//! such a node only. [`missing()`] reports beforehand what this machine or user lacks for a path.

mod error;
mod external;
mod host;
mod layers;
mod local;
mod missing;
mod path;
mod program;
mod proxies;

pub use error::{CniError, LocalError};
pub use external::External;
pub use host::Host;
pub use local::{CLEANERS, Local};
pub use missing::missing;
