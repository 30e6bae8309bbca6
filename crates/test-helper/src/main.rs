//! What the tests of platforms start as separate programs: a service that answers with its caller's address,
//! a run that waits to be killed, and an ordinary user's run.

mod cluster;
mod http;

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    process::ExitCode,
    time::{Duration, Instant},
};

use loadline_docker::DockerPlatform;
use loadline_local::Local;
use loadline_machine::{Environment, Netns, Registry, enter_user_namespace};
use loadline_model::platform::{Docker, Image, ImageSource, Layer};
use loadline_platform::{Deployment, Platform, Service};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["serve", host, port] => serve(host, port),
        ["serve-http", host, port] => http::serve(host, port),
        ["exit", code, last_words] => exit(code, last_words),
        ["exit-when-called", host, port, code] => exit_when_called(host, port, code),
        ["eat-when-called", host, port] => eat_when_called(host, port),
        ["hold", nodes, registry, run, layers] => hold(registry, run, layers, nodes == "own"),
        ["hold-container", peers, registry, run, endpoint, docker] => {
            hold_container(registry, run, endpoint, docker, peers == "beside")
        }
        ["rootless", nodes, registry, layers] => rootless(registry, layers, nodes == "own"),
        ["missing", layers] => say_missing(layers),
        ["fail"] => Err("no database".into()),
        ["hungry", host, port] => cluster::hungry(host, port),
        ["agent", "--listen", address] => cluster::agent(address),
        ["hold-pod", registry, run, options, program] => cluster::hold(registry, run, options, program),
        ["elsewhere", registry, options, program] => cluster::elsewhere(registry, options, program),
        _ => Err("see main.rs for what this can do".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Answers each connection with the address that it comes from.
fn serve(host: &str, port: &str) -> Outcome {
    let listener = TcpListener::bind((host, port.parse()?))?;
    println!("listening on {host}:{port}");
    loop {
        let (mut stream, peer) = listener.accept()?;
        // The client may already be gone.
        let _ = stream.write_all(peer.ip().to_string().as_bytes());
    }
}

fn exit(code: &str, last_words: &str) -> Outcome {
    println!("{last_words}");
    std::process::exit(code.parse()?)
}

fn exit_when_called(host: &str, port: &str, code: &str) -> Outcome {
    TcpListener::bind((host, port.parse()?))?.accept()?;
    exit(code, "I was called")
}

/// Uses more and more memory.
fn eat_when_called(host: &str, port: &str) -> Outcome {
    TcpListener::bind((host, port.parse()?))?.accept()?;
    let mut eaten = Vec::new();
    loop {
        eaten.push(vec![1_u8; 1 << 20]);
        std::hint::black_box(&eaten);
    }
}

/// Deploys, prints a line, and waits to be killed.
fn hold(registry: &str, run: &str, layers: &str, own_node: bool) -> Outcome {
    let environment = Environment::prepare_in(&Registry::at(registry)?, run.parse()?)?;
    let (_deployment, answer) = deploy_and_ask(&environment, layers, own_node)?;
    println!("{answer}");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// As [`hold`], with a container of this program, alone or beside others.
fn hold_container(registry: &str, run: &str, endpoint: &str, docker: &str, has_peers: bool) -> Outcome {
    let environment = Environment::prepare_in(&Registry::at(registry)?, run.parse()?)?;
    let program = std::env::current_exe()?;
    let service = Service {
        argv: ["helper", "serve", "{host}", "{port}"].map(str::to_owned).to_vec(),
        image: Some(Image { source: ImageSource::Program(program), entrypoint: None }),
        has_peers,
        ..Service::default()
    };
    let options: Docker = serde_json::from_str(docker)?;
    let platform = DockerPlatform { options, endpoint: Some(endpoint.to_owned()) };
    let deployment = platform.deploy(&environment, &service, &mut |_| {})?;
    println!("{}", ask(environment.client(), deployment.address())?);
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Deploys inside a user namespace, and prints the answer and what was left out, a line each.
fn rootless(registry: &str, layers: &str, own_node: bool) -> Outcome {
    enter_user_namespace()?;
    let environment = Environment::prepare_in(&Registry::at(registry)?, "00beef".parse()?)?;
    let (deployment, answer) = deploy_and_ask(&environment, layers, own_node)?;
    println!("{answer}");
    deployment.left_out().iter().for_each(|sentence| println!("{sentence}"));
    deployment.stop()?;
    environment.remove()?;
    Ok(())
}

/// Prints, inside a user namespace, why the layers are not available, if they are not.
fn say_missing(layers: &str) -> Outcome {
    enter_user_namespace()?;
    let layers: Vec<Layer> = serde_json::from_str(layers)?;
    if let Some(error) = loadline_local::missing(&layers) {
        println!("{error}");
    }
    Ok(())
}

fn deploy_and_ask(
    environment: &Environment,
    layers: &str,
    own_node: bool,
) -> Result<(Box<dyn Deployment>, String), Box<dyn std::error::Error>> {
    let layers: Vec<Layer> = serde_json::from_str(layers)?;
    let helper = std::env::current_exe()?.display().to_string();
    let argv = [&helper, "serve", "{host}", "{port}"].map(str::to_owned).to_vec();
    let service = Service { argv, ..Service::default() };
    let deployment = Local { layers, own_node }.deploy(environment, &service, &mut |_| {})?;
    let answer = ask(environment.client(), deployment.address())?;
    Ok((deployment, answer))
}

fn ask(client: &Netns, address: SocketAddr) -> Result<String, loadline_machine::Error> {
    client.run(|| {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let mut answer = String::new();
            let asked = TcpStream::connect_timeout(&address, Duration::from_secs(2));
            match asked.and_then(|mut stream| stream.read_to_string(&mut answer)) {
                Ok(1..) => return Ok(answer),
                _ if Instant::now() > deadline => return Ok(format!("no answer from {address}")),
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    })
}
