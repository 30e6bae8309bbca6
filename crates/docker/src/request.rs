//! The request for a container of the image, with the service's arguments, environment, limits and labels.

use std::{
    collections::{BTreeMap, HashMap},
    net::Ipv4Addr,
};

use bollard::models::{
    ContainerCreateBody, EndpointIpamConfig, EndpointSettings, HostConfig, Mount, MountType,
    NetworkingConfig, PortBinding,
};

use loadline_machine::{
    Error, Owner, PROCESS_LABEL, RUN_LABEL, SLOT_LABEL,
    cgroup::{self, CPU_PERIOD_US},
};
use loadline_model::platform::{self, Docker, Image};
use loadline_platform::Service;

/// How long a service may take to exit after SIGTERM.
pub(crate) const TERM_TIMEOUT_S: i32 = 2;

/// How the container is attached to a network, as far as it is known before the container exists.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Attachment {
    /// The network's name, or `host` or `none`.
    pub network: String,
    /// The address that the service listens on.
    pub host: Ipv4Addr,
    /// The port in the container.
    pub port: u16,
    /// The node's address at which Docker publishes the port.
    pub publish_at: Option<Ipv4Addr>,
    /// The address that the container must have.
    pub address: Option<Ipv4Addr>,
}

/// The body of `POST /containers/create`.
pub(crate) fn container(
    docker: &Docker,
    service: &Service,
    image: &Image,
    reference: &str,
    owner: &Owner,
    attachment: &Attachment,
) -> Result<ContainerCreateBody, Error> {
    let fill = |text: &String| service.fill(text, &attachment.host.to_string(), attachment.port);
    let arguments: Vec<String> = service.argv.iter().skip(1).map(fill).collect();
    let port = format!("{}/tcp", attachment.port);
    let publishes = attachment.publish_at.is_some();
    Ok(ContainerCreateBody {
        image: Some(reference.to_owned()),
        entrypoint: image.entrypoint.clone(),
        // Without arguments, the image's own command.
        cmd: (!arguments.is_empty()).then_some(arguments),
        env: Some(environment(service, owner, attachment)),
        user: docker.user.clone(),
        labels: Some(labels(owner)),
        exposed_ports: publishes.then(|| vec![port.clone()]),
        stop_signal: Some("SIGTERM".to_owned()),
        stop_timeout: Some(i64::from(TERM_TIMEOUT_S)),
        host_config: Some(HostConfig {
            network_mode: Some(attachment.network.clone()),
            port_bindings: attachment.publish_at.map(|host| bindings(port, host)),
            mounts: Some(docker.mounts.iter().map(mount).collect()),
            ..limits(service)?
        }),
        networking_config: attachment.address.map(|address| at(&attachment.network, address)),
        ..ContainerCreateBody::default()
    })
}

/// The labels of everything that a run creates in Docker.
pub(crate) fn labels(owner: &Owner) -> HashMap<String, String> {
    let run = (RUN_LABEL.to_owned(), owner.run.to_string());
    let slot = owner.slot.map(|slot| (SLOT_LABEL.to_owned(), slot.to_string()));
    std::iter::once(run).chain(slot).collect()
}

fn environment(service: &Service, owner: &Owner, attachment: &Attachment) -> Vec<String> {
    let (host, port) = (attachment.host.to_string(), attachment.port);
    let mut variables = BTreeMap::from([("HOST", host.clone()), ("PORT", port.to_string())]);
    variables
        .extend(service.env.iter().map(|(name, value)| (name.as_str(), service.fill(value, &host, port))));
    // With it the processes can be found when Docker itself is gone.
    variables.insert(PROCESS_LABEL, owner.label());
    variables.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
}

/// The CPU limit is a quota per period and not `NanoCpus`, which Docker rejects above the machine's CPUs.
fn limits(service: &Service) -> Result<HostConfig, Error> {
    cgroup::check(&service.limits)?;
    let memory = service.limits.memory_bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
    let quota = service.limits.cpus.map(|cpus| cgroup::quota_us(cpus) as i64);
    Ok(HostConfig {
        cpu_period: quota.map(|_| CPU_PERIOD_US as i64),
        cpu_quota: quota,
        memory,
        // Memory and swap together: a service must not exceed the limit by swapping.
        memory_swap: memory,
        cpuset_cpus: (!service.cpus.is_empty()).then(|| cgroup::cpu_list(&service.cpus)),
        ..HostConfig::default()
    })
}

/// A port of Docker's choice, at one address only: the service is for the client, not for other machines.
fn bindings(port: String, host: Ipv4Addr) -> HashMap<String, Option<Vec<PortBinding>>> {
    let binding = PortBinding { host_ip: Some(host.to_string()), host_port: Some(String::new()) };
    HashMap::from([(port, Some(vec![binding]))])
}

fn mount(mount: &platform::Mount) -> Mount {
    Mount {
        typ: Some(MountType::BIND),
        source: Some(mount.source.display().to_string()),
        target: Some(mount.target.clone()),
        read_only: Some(mount.read_only),
        ..Mount::default()
    }
}

fn at(network: &str, address: Ipv4Addr) -> NetworkingConfig {
    let ipam =
        EndpointIpamConfig { ipv4_address: Some(address.to_string()), ..EndpointIpamConfig::default() };
    let endpoint = EndpointSettings { ipam_config: Some(ipam), ..EndpointSettings::default() };
    NetworkingConfig { endpoints_config: Some(HashMap::from([(network.to_owned(), endpoint)])) }
}

#[cfg(test)]
mod tests {
    use loadline_model::platform::{ImageSource, Limits};

    use super::*;

    fn requested(service: &Service) -> ContainerCreateBody {
        let attachment = Attachment {
            network: "bridge".to_owned(),
            host: Ipv4Addr::UNSPECIFIED,
            port: 8080,
            publish_at: Some(Ipv4Addr::new(198, 18, 0, 1)),
            address: None,
        };
        let image = Image { source: ImageSource::Name("orders".to_owned()), entrypoint: None };
        let owner = Owner { run: "0a1b2c".parse().unwrap(), slot: Some(3) };
        container(&Docker::default(), service, &image, "orders:latest", &owner, &attachment).unwrap()
    }

    #[test]
    fn arguments_and_variables_are_filled_in_and_the_services_own_win() {
        let service = Service {
            argv: ["orders", "--listen", "{host}:{port}"].map(str::to_owned).to_vec(),
            env: [("PORT", "{port}1"), ("CPUS", "{limits.cpu}")]
                .map(|(n, v)| (n.to_owned(), v.to_owned()))
                .to_vec(),
            limits: Limits { cpus: Some(1.5), memory_bytes: None },
            ..Service::default()
        };
        let body = requested(&service);
        assert_eq!(body.cmd.unwrap(), ["--listen", "0.0.0.0:8080"]);
        let expected = ["CPUS=2", "HOST=0.0.0.0", "LOADLINE_OWNER=loadline-0a1b2c-3", "PORT=80801"];
        assert_eq!(body.env.unwrap(), expected);
    }

    #[test]
    fn without_arguments_the_images_own_command_is_run() {
        let service = Service { argv: vec!["orders".to_owned()], ..Service::default() };
        assert_eq!(requested(&service).cmd, None);
    }

    #[test]
    fn limits_are_those_that_a_cgroup_of_our_own_would_have() {
        let limits = Limits { cpus: Some(0.5), memory_bytes: Some(64 << 20) };
        let body = requested(&Service { limits, cpus: vec![0, 2], ..Service::default() });
        let host = body.host_config.unwrap();
        assert_eq!((host.cpu_period, host.cpu_quota), (Some(100_000), Some(50_000)));
        assert_eq!((host.memory, host.memory_swap), (Some(64 << 20), Some(64 << 20)));
        assert_eq!(host.cpuset_cpus.unwrap(), "0,2");
        let too_little =
            Service { limits: Limits { cpus: Some(0.0), memory_bytes: None }, ..Service::default() };
        assert!(matches!(limits_of(&too_little), Err(Error::BadLimit { .. })));
    }

    fn limits_of(service: &Service) -> Result<HostConfig, Error> {
        limits(service)
    }

    #[test]
    fn everything_is_labelled_with_its_run_and_deployment() {
        let labels = requested(&Service::default()).labels.unwrap();
        assert_eq!((labels["loadline.run"].as_str(), labels["loadline.slot"].as_str()), ("0a1b2c", "3"));
    }
}
