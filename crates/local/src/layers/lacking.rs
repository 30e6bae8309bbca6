//! Telling what a machine lacks for a layer from the answer to the attempt to make it.

use loadline_machine::Error;
use rtnetlink::packet_core::ErrorMessage;
use rustix::io::Errno;

use super::Layer;
use crate::error::LocalError;

/// Turns the kernel's "not supported" into the option that it was built without, and its "not permitted" into a wish for root.
/// `link` is the kind of link that was to be made.
pub(crate) fn or_missing<T>(
    made: Result<T, Error>,
    layer: &Layer,
    link: &str,
    option: &str,
) -> Result<T, LocalError> {
    made.map_err(|error| match refusal(&error) {
        // `rtnl_newlink` (net/core/rtnetlink.c): no such kind, after an attempt to load its module.
        Some(Errno::OPNOTSUPP) => missing(layer, format!("the kernel has no {link} ({option})")),
        Some(Errno::PERM | Errno::ACCESS) => {
            missing(layer, format!("this user may make no {link}: root is needed"))
        }
        _ => error.into(),
    })
}

/// The error of a layer that can't be had.
pub(crate) fn missing(layer: &Layer, why: impl Into<String>) -> LocalError {
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
