//! Kinds of failed requests.

use loadline_model::ErrorKind;

use super::Words;

impl Words for ErrorKind {
    fn words(&self) -> String {
        let words = match self {
            ErrorKind::Connect => "not connected",
            ErrorKind::Timeout => "timed out",
            ErrorKind::Reset => "reset",
            ErrorKind::EarlyEnd => "ended early",
            ErrorKind::Malformed => "not HTTP",
            ErrorKind::Status => "unexpected status",
            ErrorKind::Header => "unexpected header",
            ErrorKind::Body => "unexpected body",
        };
        words.to_owned()
    }
}
