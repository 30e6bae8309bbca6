//! Why a layer is unavailable, derived from the kernel's error when its link is created.

use loadline_machine::Error;
use rtnetlink::packet_core::ErrorMessage;
use rustix::io::Errno;

use super::Layer;
use crate::error::LocalError;

/// Turns the kernel's "not supported" into the option that it was built without, and "not permitted" into a need for root.
/// `link` is the kind of link.
pub(crate) fn or_unavailable<T>(
    made: Result<T, Error>,
    layer: &Layer,
    link: &str,
    option: &str,
) -> Result<T, LocalError> {
    made.map_err(|error| match refusal(&error) {
        // `rtnl_newlink` (net/core/rtnetlink.c): no such kind, after it tried to load its module.
        Some(Errno::OPNOTSUPP) => unavailable(layer, format!("the kernel has no {link} ({option})")),
        Some(Errno::PERM | Errno::ACCESS) => {
            unavailable(layer, format!("this user cannot create a {link}: run as root"))
        }
        _ => error.into(),
    })
}

/// The error of a layer that is not available.
pub(crate) fn unavailable(layer: &Layer, why: impl Into<String>) -> LocalError {
    LocalError::LayerMissing { layer: layer.clone(), why: why.into() }
}

fn refusal(error: &Error) -> Option<Errno> {
    match error {
        Error::Netlink {
            source: rtnetlink::Error::NetlinkError(ErrorMessage { code: Some(code), .. }),
            ..
        } => Some(Errno::from_raw_os_error(-code.get())),
        _ => None,
    }
}
