//! Why a request to the API server failed: what may pass by itself, and what each failure means to the user.

use std::{error::Error as StdError, io};

use crate::error::ClusterError;

/// A failed request.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The client's or the server's.
    Request(kube::Error),
    /// No answer in time.
    TimedOut,
}

/// Who was asked for what, for the message.
pub(crate) struct Asked<'a> {
    pub what: &'a str,
    pub server: &'a str,
    pub context: &'a str,
}

/// Said when loadline runs as an ordinary user, in a namespace of its own.
const ROOTLESS_HINT: &str =
    "; an ordinary user's loadline is in a network namespace without a way out: run it as root";

impl Failure {
    /// Whether the same request may well succeed in a moment: the server restarts, is overloaded, or the network is.
    pub fn may_pass(&self) -> bool {
        match self {
            Failure::TimedOut => true,
            // 500: among others, a kubelet that cannot ask the server, which has just restarted, whether the server may ask it.
            Failure::Request(kube::Error::Api(status)) => matches!(status.code, 429 | 500 | 502..=504),
            Failure::Request(kube::Error::HyperError(_) | kube::Error::Service(_)) => {
                self.certificate().is_none() && self.login().is_none()
            }
            Failure::Request(kube::Error::ReadEvents(_)) => true,
            // A handshake that the dying server cut short.
            Failure::Request(kube::Error::UpgradeConnection(error)) => {
                use kube::client::UpgradeConnectionError::ProtocolSwitch;
                !matches!(error, ProtocolSwitch(status) if status.is_client_error())
            }
            Failure::Request(_) => false,
        }
    }

    /// Whether the server answered, even if only to refuse.
    pub fn is_answer(&self) -> bool {
        matches!(self, Failure::Request(kube::Error::Api(_)))
    }

    /// The server's word for it, where it gave one: `NotFound`, `AlreadyExists`, …
    pub fn is_reason(&self, reason: &str) -> bool {
        matches!(self, Failure::Request(kube::Error::Api(status)) if status.reason == reason)
    }

    /// The failure as the user should read it.
    pub fn explain(self, asked: &Asked) -> ClusterError {
        let (what, server, context) =
            (asked.what.to_owned(), asked.server.to_owned(), asked.context.to_owned());
        if let Some(reason) = self.certificate() {
            return ClusterError::BadCertificate { server, reason };
        }
        if let Some(reason) = self.login() {
            return ClusterError::Unauthorized { server, context, reason };
        }
        match self {
            Failure::Request(kube::Error::Api(status)) => match status.code {
                401 => ClusterError::Unauthorized { server, context, reason: status.message },
                403 if status.reason == "Forbidden" && status.message.contains("cannot") => {
                    ClusterError::Forbidden { what, server, message: status.message }
                }
                _ => ClusterError::Refused { what, message: status.message },
            },
            Failure::Request(error) if matches!(error, kube::Error::SerdeError(_)) => {
                ClusterError::Refused { what, message: error.to_string() }
            }
            Failure::Request(error) => {
                ClusterError::Unreachable { what, server, reason: innermost(&error), hint: hint() }
            }
            Failure::TimedOut => {
                let reason = "it doesn't answer".to_owned();
                ClusterError::Unreachable { what, server, reason, hint: hint() }
            }
        }
    }

    /// What TLS has against the server's certificate.
    fn certificate(&self) -> Option<String> {
        let Failure::Request(error) = self else { return None };
        chain(error).find_map(|cause| match tls_error(cause)? {
            rustls::Error::InvalidCertificate(reason) => Some(reason.to_string()),
            _ => None,
        })
    }

    /// What went wrong in getting credentials from a program or a file.
    fn login(&self) -> Option<String> {
        let Failure::Request(error) = self else { return None };
        chain(error)
            .find_map(|cause| cause.downcast_ref::<kube::client::AuthError>().map(ToString::to_string))
    }
}

/// An I/O error shows what is behind that which it holds, and not that itself, as its source; and it may hold another.
fn tls_error<'a>(cause: &'a (dyn StdError + 'static)) -> Option<&'a rustls::Error> {
    cause.downcast_ref().or_else(|| tls_error(cause.downcast_ref::<io::Error>()?.get_ref()?))
}

fn hint() -> &'static str {
    let rootless =
        loadline_machine::outer_uid().is_ok_and(|uid| uid != 0) && rustix::process::geteuid().is_root();
    if rootless { ROOTLESS_HINT } else { "" }
}

fn chain<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// The last cause: the operating system's, after several layers that each say that connecting failed.
fn innermost(error: &(dyn StdError + 'static)) -> String {
    chain(error).last().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    const ASKED: Asked =
        Asked { what: "list the nodes", server: "https://10.0.0.1:6443", context: "staging" };

    fn answered(code: u16, reason: &str, message: &str) -> Failure {
        Failure::Request(kube::Error::Api(Status::failure(message, reason).with_code(code).boxed()))
    }

    fn broken(inner: impl Into<Box<dyn StdError + Send + Sync>>) -> Failure {
        Failure::Request(kube::Error::Service(inner.into()))
    }

    #[test]
    fn a_refused_connection_may_pass_and_names_the_server() {
        let failure = broken(io::Error::from(io::ErrorKind::ConnectionRefused));
        assert!(failure.may_pass());
        let message = failure.explain(&ASKED).to_string();
        assert!(message.contains("could not list the nodes: the API server at https://10.0.0.1:6443 can't be reached (connection refused)"), "{message}");
    }

    #[test]
    fn overload_may_pass_and_refusals_do_not() {
        assert!(answered(503, "ServiceUnavailable", "starting").may_pass());
        assert!(Failure::TimedOut.may_pass());
        for code in [400, 401, 403, 404, 409, 422] {
            assert!(!answered(code, "", "").may_pass(), "{code}");
        }
    }

    #[test]
    fn expired_credentials_are_told_from_missing_rights() {
        let expired = answered(401, "Unauthorized", "Unauthorized").explain(&ASKED);
        assert!(matches!(&expired, ClusterError::Unauthorized { context, .. } if context == "staging"));
        let forbidden = answered(403, "Forbidden", "nodes is forbidden: User \"x\" cannot list resource");
        assert!(matches!(forbidden.explain(&ASKED), ClusterError::Forbidden { .. }));
        let quota = answered(403, "Forbidden", "pods \"p\" is forbidden: exceeded quota: small");
        assert!(matches!(quota.explain(&ASKED), ClusterError::Refused { .. }));
    }

    #[test]
    fn a_certificate_of_somebody_else_does_not_pass() {
        let tls = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let failure = broken(io::Error::other(io::Error::new(io::ErrorKind::InvalidData, tls)));
        assert!(!failure.may_pass());
        let message = failure.explain(&ASKED).to_string();
        assert!(message.contains("isn't trusted (UnknownIssuer)"), "{message}");
    }

    #[test]
    fn a_login_program_that_fails_is_quoted() {
        let failure = broken(kube::client::AuthError::AuthExec("aws: session expired".to_owned()));
        assert!(!failure.may_pass());
        assert!(failure.explain(&ASKED).to_string().contains("aws: session expired"));
    }
}
