//! From the description of a load to the options of an engine.

use std::sync::Arc;

use loadline_model::load::LoadDescription;

use crate::endpoint::Endpoint;
use crate::expect::Expectation;
use crate::mix::{Feed, FeedError, Mix, MixError, MixOptions, Wire};
use crate::options::Options;
use crate::transport::{Tls, TlsError};

/// Why a load that is described cannot be driven.
#[derive(Debug, thiserror::Error)]
pub enum DescriptionError {
    /// Nothing can be sent.
    #[error("a load needs at least one connection")]
    NoConnections,
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The CSV file is not one.
    #[error(transparent)]
    Feed(#[from] FeedError),
    /// The requests cannot be sent.
    #[error(transparent)]
    Mix(#[from] MixError),
}

impl Options {
    /// The options of an engine that drives the described load at an endpoint, whose TLS is the description's. Placement is left to the
    /// caller: one thread, on any CPU.
    ///
    /// # Errors
    /// With the first thing in the description that cannot be.
    pub fn describing(
        description: &LoadDescription,
        endpoint: Endpoint,
    ) -> Result<Options, DescriptionError> {
        let LoadDescription { load, traffic } = description;
        if load.connections == 0 {
            return Err(DescriptionError::NoConnections);
        }
        let streams = load.protocol.streams();
        let wire = if streams.is_some() { Wire::Http2 } else { Wire::Http1 };
        let tls = traffic.tls.as_ref().map(|tls| Tls::new(endpoint.host(), tls, wire == Wire::Http2));
        let endpoint = Endpoint { tls: tls.transpose()?, ..endpoint };
        let feed = traffic.feed.as_ref().map(|file| Feed::parse(&file.path, &file.bytes[..])).transpose()?;
        let mix = Mix::with(&traffic.requests, &endpoint, &MixOptions { wire, feed })?;
        Ok(Options {
            connections: load.connections,
            streams,
            reuse: load.reuse,
            timeout: load.timeout,
            timestamps: load.timestamps,
            expectation: Arc::new(Expectation::of(&traffic.expect)),
            ..Options::new(endpoint, mix)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use loadline_model::load::{FileContents, Load, LoadSpec, Request, TlsOptions, Traffic};

    use super::*;

    fn description() -> LoadDescription {
        let load = LoadSpec::new(Load::Closed { think: None }, 1);
        LoadDescription { load, traffic: Traffic::of(vec![Request::get("/{{id}}")]) }
    }

    fn refused(change: impl FnOnce(&mut LoadDescription)) -> String {
        let mut description = description();
        change(&mut description);
        let endpoint = Endpoint::from(SocketAddr::from(([127, 0, 0, 1], 80)));
        Options::describing(&description, endpoint).err().unwrap().to_string()
    }

    fn file(name: &str, text: &str) -> FileContents {
        FileContents { path: name.into(), bytes: text.as_bytes().into() }
    }

    #[test]
    fn what_is_wrong_is_said_with_the_file_that_it_came_from() {
        assert!(refused(|_| {}).contains("placeholder"));
        assert!(refused(|it| it.load.connections = 0).contains("at least one connection"));
        let feed = refused(|it| it.traffic.feed = Some(file("users.csv", "id\n")));
        assert!(feed.starts_with("users.csv has no data rows"), "{feed}");
        let tls = refused(|it| {
            it.traffic.tls = Some(TlsOptions { ca: Some(file("ca.pem", "")), ..TlsOptions::default() });
        });
        assert!(tls.starts_with("ca.pem contains no certificate"), "{tls}");
    }

    #[test]
    fn the_host_of_an_authority_is_what_a_certificate_names() {
        for (authority, host) in
            [("shop.test", "shop.test"), ("shop.test:81", "shop.test"), ("[::1]:81", "::1"), ("[::1]", "::1")]
        {
            let endpoint = Endpoint {
                authority: authority.to_owned(),
                ..Endpoint::from(SocketAddr::from(([127, 0, 0, 1], 80)))
            };
            assert_eq!(endpoint.host(), host);
        }
    }
}
