//! What the tests of the platform `kubernetes` start: services that misbehave, an agent, and runs in processes of their own.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    thread::sleep,
    time::Duration,
};

use loadline_kubernetes::KubernetesPlatform;
use loadline_machine::{Environment, Netns, Registry, find_container};
use loadline_model::platform::{Image, ImageSource, Kubernetes};
use loadline_platform::{Platform, Service, Subject, Vantage};

use crate::{Outcome, ask};

/// Answers the first client, and then uses more and more memory.
pub fn hungry(host: &str, port: &str) -> Outcome {
    let listener = TcpListener::bind((host, port.parse()?))?;
    let (mut stream, peer) = listener.accept()?;
    stream.write_all(peer.ip().to_string().as_bytes())?;
    drop(stream);
    let mut eaten = Vec::new();
    loop {
        eaten.push(vec![1_u8; 1 << 20]);
    }
}

/// Answers each line, a container's id, with whether it sees that container.
pub fn agent(address: &str) -> Outcome {
    let listener = TcpListener::bind(address)?;
    println!("listening on {address}");
    loop {
        let (stream, _) = listener.accept()?;
        std::thread::spawn(move || {
            let mut answers = &stream;
            for line in BufReader::new(&stream).lines().map_while(Result::ok) {
                let seen = find_container(&line).ok().flatten().is_some();
                // The client may already be gone.
                let _ = writeln!(answers, "{line} {}", if seen { "is here" } else { "is not here" });
            }
        });
    }
}

/// Deploys, prints a line, and waits to be killed.
pub fn hold(registry: &str, run: &str, options: &str, program: &str) -> Outcome {
    let environment = Environment::prepare_in(&Registry::at(registry)?, run.parse()?)?;
    let options: Kubernetes = serde_json::from_str(options)?;
    let platform = KubernetesPlatform { options, program: None };
    let deployment = platform.deploy(&environment, &service(program), &mut |_| {})?;
    println!("{}", ask(environment.client(), deployment.address())?);
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Deploys as on a machine that is not a node, and prints what it found, one line each.
pub fn elsewhere(registry: &str, options: &str, program: &str) -> Outcome {
    let environment = Environment::prepare_in(&Registry::at(registry)?, "00e15e".parse()?)?;
    let options: Kubernetes = serde_json::from_str(options)?;
    let platform = KubernetesPlatform { options, program: Some(program.into()) };
    let mut deployment = platform.deploy(&environment, &service(program), &mut |_| {})?;
    match deployment.vantage() {
        Vantage::Client => println!("client"),
        Vantage::Node => println!("node {}", ask(&Netns::current()?, deployment.address())?),
        Vantage::Agent(agent) => println!("agent {}", converse(agent.connect()?, "nobody")?),
    }
    let subject = deployment.subject();
    println!("here {}", matches!(subject, Subject::Here { .. }));
    match subject {
        Subject::Here { .. } | Subject::Nobody => println!("unobserved"),
        Subject::Agent(agent, container) => {
            println!("observed {}", converse(agent.connect()?, &container)?)
        }
        Subject::Usage(reader) => {
            // The kubelet has no figures of a container that it has not sampled yet.
            let reading = (0..60).find_map(|_| {
                sleep(Duration::from_millis(500));
                reader.read()
            });
            println!("reading {reading:?}");
        }
    }
    deployment.left_out().iter().for_each(|sentence| println!("left out: {sentence}"));
    println!("deployed");
    // The test may now change something in the cluster, and then asks whether it was noticed.
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    let seconds: u32 = line.trim().parse().unwrap_or_default();
    let ended = (0..seconds * 2).find_map(|_| {
        sleep(Duration::from_millis(500));
        deployment.ended()
    });
    println!("ended {ended:?}");
    deployment.stop()?;
    environment.remove()?;
    Ok(())
}

fn converse(
    mut stream: std::os::unix::net::UnixStream,
    line: &str,
) -> Result<String, Box<dyn std::error::Error>> {
    writeln!(stream, "{line}")?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer)?;
    Ok(answer.trim().to_owned())
}

fn service(program: &str) -> Service {
    Service {
        argv: ["helper", "serve", "{host}", "{port}"].map(str::to_owned).to_vec(),
        image: Some(Image { source: ImageSource::Program(program.into()), entrypoint: None }),
        cpus: vec![0],
        ..Service::default()
    }
}
