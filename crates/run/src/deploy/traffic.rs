//! What is sent to the services of an experiment, with the contents of the files that it names.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use loadline_engine::{DescriptionError, Endpoint, Options, TlsError, read_tls_files};
use loadline_model::experiment::{CellSpec, Experiment, RequestSpec, Service};
use loadline_model::load::{FileContents, LoadDescription, Request, TlsOptions, Traffic};
use loadline_model::{PlatformId, ServiceId};

/// What is sent to the services of an experiment: read once, so that a file that changes during a run changes nothing.
pub struct ServiceTraffic {
    /// Of each service; TLS is there whether or not a platform needs it.
    services: Vec<(Traffic, TlsOptions<FileContents>)>,
}

/// Why the load of an experiment cannot be generated.
#[derive(Debug, thiserror::Error)]
pub enum TrafficError {
    /// A file cannot be read.
    #[error("cannot read the CSV file {path} of service `{service}`: {source}")]
    Feed {
        /// Whose.
        service: String,
        /// Which.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A certificate or key cannot be read.
    #[error("cannot set up TLS for service `{service}`: {source}")]
    Tls {
        /// Whose.
        service: String,
        /// Why not.
        source: TlsError,
    },
    /// The engine cannot do it.
    #[error("cannot send the requests of service `{service}` to `{platform}`: {source}")]
    Description {
        /// Which service.
        service: String,
        /// Where.
        platform: String,
        /// Why not.
        source: Box<DescriptionError>,
    },
}

impl ServiceTraffic {
    /// Reads the files of an experiment, and checks that each of its loads can be generated.
    ///
    /// # Errors
    /// With the first file that cannot be read or is not what it should be.
    pub fn read(experiment: &Experiment) -> Result<ServiceTraffic, TrafficError> {
        let services = experiment.services.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let traffic = ServiceTraffic { services };
        experiment.cells.iter().try_for_each(|cell| traffic.check(experiment, *cell))?;
        Ok(traffic)
    }

    /// What is sent to a service on a platform.
    pub fn of(&self, experiment: &Experiment, service: ServiceId, platform: PlatformId) -> Traffic {
        let (traffic, tls) = &self.services[service.0];
        let speaks_tls = experiment.platform(platform).kind.speaks_tls(experiment.service(service).https);
        Traffic { tls: speaks_tls.then(|| tls.clone()), ..traffic.clone() }
    }

    fn check(&self, experiment: &Experiment, cell: CellSpec) -> Result<(), TrafficError> {
        let traffic = self.of(experiment, cell.service, cell.platform);
        let description = LoadDescription { load: experiment.load(cell.load).clone(), traffic };
        // Nothing is connected to: any address will do.
        let endpoint = Endpoint::from(SocketAddr::from((Ipv4Addr::LOCALHOST, 1)));
        Options::describing(&description, endpoint).map_err(|source| TrafficError::Description {
            service: experiment.service(cell.service).name.clone(),
            platform: experiment.platform(cell.platform).name.clone(),
            source: Box::new(source),
        })?;
        Ok(())
    }
}

fn read(service: &Service) -> Result<(Traffic, TlsOptions<FileContents>), TrafficError> {
    let feed = service.feed.as_deref().map(|path| read_feed(&service.name, path)).transpose()?;
    let tls = service.tls.clone().unwrap_or_default();
    let tls =
        read_tls_files(&tls).map_err(|source| TrafficError::Tls { service: service.name.clone(), source })?;
    let requests = service.requests.iter().map(request).collect();
    Ok((Traffic { requests, feed, expect: service.expect.clone(), tls: None }, tls))
}

fn read_feed(service: &str, path: &Path) -> Result<FileContents, TrafficError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(FileContents { path: path.to_owned(), bytes: bytes.into() }),
        Err(source) => Err(TrafficError::Feed { service: service.to_owned(), path: path.to_owned(), source }),
    }
}

fn request(spec: &RequestSpec) -> Request {
    Request {
        method: spec.method.clone(),
        path: spec.path.clone(),
        headers: spec.headers.clone(),
        body: spec.body.clone().unwrap_or_default().into_bytes(),
        weight: spec.weight,
    }
}
