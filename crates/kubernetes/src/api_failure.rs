//! Why a request to the API server failed: which failures are transient, and what each means to the user.

use std::{error::Error as StdError, io};

use crate::error::ClusterError;

/// A failed request.
#[derive(Debug)]
pub(crate) enum ApiFailure {
    /// The client's or the server's.
    Request(kube::Error),
    /// No answer in time.
    TimedOut,
}

/// What was requested of which server, for the message.
pub(crate) struct RequestContext<'a> {
    pub what: &'a str,
    pub server: &'a str,
    pub context: &'a str,
}

/// Added when loadline runs as an ordinary user, in a namespace of its own.
const ROOTLESS_HINT: &str =
    "; without root, loadline is in a network namespace with no route out: run it as root";

impl ApiFailure {
    /// Whether the same request may soon succeed: the server is restarting or overloaded, or the network failed.
    pub fn is_transient(&self) -> bool {
        match self {
            ApiFailure::TimedOut => true,
            // 500: among others, a kubelet that cannot ask the server, which has just restarted, whether the server may ask it.
            ApiFailure::Request(kube::Error::Api(status)) => matches!(status.code, 429 | 500 | 502..=504),
            ApiFailure::Request(kube::Error::HyperError(_) | kube::Error::Service(_)) => {
                self.certificate().is_none() && self.login().is_none()
            }
            ApiFailure::Request(kube::Error::ReadEvents(_)) => true,
            // A handshake that the terminating server interrupted.
            ApiFailure::Request(kube::Error::UpgradeConnection(error)) => {
                use kube::client::UpgradeConnectionError::ProtocolSwitch;
                !matches!(error, ProtocolSwitch(status) if status.is_client_error())
            }
            ApiFailure::Request(_) => false,
        }
    }

    /// Whether the server answered, even if only to refuse.
    pub fn is_answer(&self) -> bool {
        matches!(self, ApiFailure::Request(kube::Error::Api(_)))
    }

    /// The server's reason, if it gave one: `NotFound`, `AlreadyExists`, …
    pub fn is_reason(&self, reason: &str) -> bool {
        matches!(self, ApiFailure::Request(kube::Error::Api(status)) if status.reason == reason)
    }

    /// The failure as an error for the user.
    pub fn explain(self, context: &RequestContext) -> ClusterError {
        let (what, server, context) =
            (context.what.to_owned(), context.server.to_owned(), context.context.to_owned());
        if let Some(reason) = self.certificate() {
            return ClusterError::BadCertificate { server, reason };
        }
        if let Some(reason) = self.login() {
            return ClusterError::Unauthorized { server, context, reason };
        }
        match self {
            ApiFailure::Request(kube::Error::Api(status)) => match status.code {
                401 => ClusterError::Unauthorized { server, context, reason: status.message },
                403 if status.reason == "Forbidden" && status.message.contains("cannot") => {
                    ClusterError::Forbidden { what, server, message: status.message }
                }
                _ => ClusterError::Refused { what, message: status.message },
            },
            ApiFailure::Request(error) if matches!(error, kube::Error::SerdeError(_)) => {
                ClusterError::Refused { what, message: error.to_string() }
            }
            ApiFailure::Request(error) => {
                ClusterError::Unreachable { what, server, reason: innermost(&error), hint: hint() }
            }
            ApiFailure::TimedOut => {
                let reason = "it does not answer".to_owned();
                ClusterError::Unreachable { what, server, reason, hint: hint() }
            }
        }
    }

    /// Why TLS rejects the server's certificate.
    fn certificate(&self) -> Option<String> {
        let ApiFailure::Request(error) = self else { return None };
        chain(error).find_map(|cause| match tls_error(cause)? {
            rustls::Error::InvalidCertificate(reason) => Some(reason.to_string()),
            _ => None,
        })
    }

    /// Why reading credentials from a plugin or a file failed.
    fn login(&self) -> Option<String> {
        let ApiFailure::Request(error) = self else { return None };
        chain(error)
            .find_map(|cause| cause.downcast_ref::<kube::client::AuthError>().map(ToString::to_string))
    }
}

/// An I/O error returns as its source the source of the error that it wraps, not that error itself; and it may wrap another I/O error.
fn tls_error<'a>(cause: &'a (dyn StdError + 'static)) -> Option<&'a rustls::Error> {
    cause.downcast_ref().or_else(|| tls_error(cause.downcast_ref::<io::Error>()?.get_ref()?))
}

fn hint() -> &'static str {
    let rootless =
        loadline_machine::host_uid().is_ok_and(|uid| uid != 0) && rustix::process::geteuid().is_root();
    if rootless { ROOTLESS_HINT } else { "" }
}

fn chain<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// The root cause: the operating system's error, below several layers that only say that connecting failed.
fn innermost(error: &(dyn StdError + 'static)) -> String {
    chain(error).last().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    const ASKED: RequestContext =
        RequestContext { what: "list the nodes", server: "https://10.0.0.1:6443", context: "staging" };

    fn answered(code: u16, reason: &str, message: &str) -> ApiFailure {
        ApiFailure::Request(kube::Error::Api(Status::failure(message, reason).with_code(code).boxed()))
    }

    fn broken(inner: impl Into<Box<dyn StdError + Send + Sync>>) -> ApiFailure {
        ApiFailure::Request(kube::Error::Service(inner.into()))
    }

    #[test]
    fn a_refused_connection_is_transient_and_names_the_server() {
        let failure = broken(io::Error::from(io::ErrorKind::ConnectionRefused));
        assert!(failure.is_transient());
        let message = failure.explain(&ASKED).to_string();
        assert!(message.contains("cannot list the nodes: the API server at https://10.0.0.1:6443 is unreachable (connection refused)"), "{message}");
    }

    #[test]
    fn overload_is_transient_and_rejections_are_not() {
        assert!(answered(503, "ServiceUnavailable", "starting").is_transient());
        assert!(ApiFailure::TimedOut.is_transient());
        for code in [400, 401, 403, 404, 409, 422] {
            assert!(!answered(code, "", "").is_transient(), "{code}");
        }
    }

    #[test]
    fn expired_credentials_are_distinguished_from_missing_permissions() {
        let expired = answered(401, "Unauthorized", "Unauthorized").explain(&ASKED);
        assert!(matches!(&expired, ClusterError::Unauthorized { context, .. } if context == "staging"));
        let forbidden = answered(403, "Forbidden", "nodes is forbidden: User \"x\" cannot list resource");
        assert!(matches!(forbidden.explain(&ASKED), ClusterError::Forbidden { .. }));
        let quota = answered(403, "Forbidden", "pods \"p\" is forbidden: exceeded quota: small");
        assert!(matches!(quota.explain(&ASKED), ClusterError::Refused { .. }));
    }

    #[test]
    fn an_untrusted_certificate_is_not_transient() {
        let tls = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let failure = broken(io::Error::other(io::Error::new(io::ErrorKind::InvalidData, tls)));
        assert!(!failure.is_transient());
        let message = failure.explain(&ASKED).to_string();
        assert!(message.contains("is not trusted (UnknownIssuer)"), "{message}");
    }

    #[test]
    fn a_login_program_that_fails_is_quoted() {
        let failure = broken(kube::client::AuthError::AuthExec("aws: session expired".to_owned()));
        assert!(!failure.is_transient());
        assert!(failure.explain(&ASKED).to_string().contains("aws: session expired"));
    }
}
