//! What to send: requests with weights. What is the same every time is written out once, as the bytes that go on the wire;
//! `{{column}}` placeholders in path, header values and body are filled from the rows of a [`Feed`].

mod encode;
mod error;
mod feed;
mod hpack;
mod parsed;
mod template;
mod wire1;

use std::sync::{Arc, OnceLock};

use loadline_model::load::Request;

use crate::endpoint::Endpoint;
use encode::Encoded;
pub use error::MixError;
pub use feed::{Feed, FeedError};
use parsed::Parsed;

/// How requests are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wire {
    /// HTTP/1.1: head and body are one text.
    #[default]
    Http1,
    /// HTTP/2: the head is a field block that uses no dynamic table, the body is apart.
    Http2,
}

/// What a mix needs to know besides its requests.
#[derive(Clone, Debug, Default)]
pub struct MixOptions {
    /// How requests are written.
    pub wire: Wire,
    /// What fills the placeholders; without it braces in a body are text.
    pub feed: Option<Feed>,
}

/// Encoded requests and how often each is due. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Mix {
    requests: Arc<[Weighted]>,
    total_weight: u64,
    rows: u64,
    closing: bool,
    source: Arc<Source>,
}

/// What the requests were encoded from.
#[derive(Debug)]
struct Source {
    requests: Vec<Parsed>,
    wire: Wire,
    scheme: &'static str,
    closing: OnceLock<Arc<[Weighted]>>,
}

#[derive(Debug)]
struct Weighted {
    encoded: Encoded,
    is_head: bool,
    /// Sum of the weights up to and with this request.
    cumulative_weight: u64,
}

impl Mix {
    /// Encodes the requests for one endpoint, as HTTP/1.1 and without placeholders.
    pub fn new(requests: &[Request], endpoint: &Endpoint) -> Result<Mix, MixError> {
        Mix::with(requests, endpoint, &MixOptions::default())
    }

    /// Encodes the requests for one endpoint.
    ///
    /// A value that a row puts into a path may hold several segments or a query; what may not stand there is
    /// percent-encoded. In a header value it is an error, whichever row it is in.
    pub fn with(requests: &[Request], endpoint: &Endpoint, options: &MixOptions) -> Result<Mix, MixError> {
        let (wire, feed) = (options.wire, options.feed.as_ref());
        let parse = |request| Parsed::new(request, &endpoint.authority, wire, feed);
        let requests = requests.iter().map(parse).collect::<Result<Vec<Parsed>, MixError>>()?;
        if requests.is_empty() {
            return Err(MixError::Empty);
        }
        let source = Source { requests, wire, scheme: endpoint.scheme(), closing: OnceLock::new() };
        Ok(Mix {
            requests: source.encode(false),
            total_weight: source.requests.iter().map(|request| u64::from(request.weight)).sum(),
            rows: feed.map_or(1, |feed| feed.rows() as u64),
            closing: false,
            source: Arc::new(source),
        })
    }

    /// The same requests for a connection that carries no other after them: with `Connection: close`, in HTTP/1.1.
    pub fn closing(&self) -> Mix {
        if self.closing || self.source.wire == Wire::Http2 {
            return self.clone();
        }
        let requests = self.source.closing.get_or_init(|| self.source.encode(true)).clone();
        Mix { requests, closing: true, ..self.clone() }
    }

    /// How many different requests there are.
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Never: a mix holds at least one request.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// The request whose turn it is when a uniform random number in [0, 2^64) comes out as `random`.
    pub(crate) fn choose(&self, random: u64) -> usize {
        let point = ((u128::from(random) * u128::from(self.total_weight)) >> 64) as u64;
        self.requests.partition_point(|request| request.cumulative_weight <= point)
    }

    /// Request `index` of the mix as the `number`-th of the load: head and body end to end, all that HTTP/1.1 sends.
    ///
    /// `scratch` is written to where a placeholder is filled, and allocates until it was once as long as the longest.
    #[inline]
    pub fn bytes<'a>(&'a self, index: usize, number: u64, scratch: &'a mut Vec<u8>) -> &'a [u8] {
        match &self.requests[index].encoded {
            Encoded::Fixed { bytes, .. } => bytes,
            Encoded::Filled { head, body } => {
                Encoded::fill(head, body, self.row(number), scratch);
                scratch
            }
        }
    }

    /// As [`Mix::bytes`], head and body apart: field block and data of HTTP/2.
    #[inline]
    pub fn parts<'a>(&'a self, index: usize, number: u64, scratch: &'a mut Vec<u8>) -> (&'a [u8], &'a [u8]) {
        match &self.requests[index].encoded {
            Encoded::Fixed { bytes, head } => bytes.split_at(*head),
            Encoded::Filled { head, body } => {
                let head = Encoded::fill(head, body, self.row(number), scratch);
                scratch.split_at(head)
            }
        }
    }

    /// Whether request `index` is a HEAD, whose response has no body.
    pub fn is_head(&self, index: usize) -> bool {
        self.requests[index].is_head
    }

    fn row(&self, number: u64) -> usize {
        // Below `rows`, which was a usize.
        (number % self.rows) as usize
    }
}

impl Source {
    fn encode(&self, close: bool) -> Arc<[Weighted]> {
        let mut cumulative_weight = 0;
        let weighted = |request: &Parsed| {
            cumulative_weight += u64::from(request.weight);
            Weighted {
                encoded: Encoded::new(request, self.wire, self.scheme, close),
                is_head: request.method == "HEAD",
                cumulative_weight,
            }
        };
        self.requests.iter().map(weighted).collect()
    }
}

#[cfg(test)]
mod tests;
