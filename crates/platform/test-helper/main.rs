//! What the tests of this crate start as programs of their own: a service that answers with its caller's address,
//! a run that waits to be killed, and a run of an ordinary user.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    process::ExitCode,
    time::{Duration, Instant},
};

use loadline_platform::{
    Deployment, Ground, Layer, Local, Netns, Platform, Registry, Service, enter_user_namespace,
};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["serve", host, port] => serve(host, port),
        ["hold", registry, run, layers] => hold(registry, run, layers),
        ["rootless", registry, layers] => rootless(registry, layers),
        _ => Err("usage: serve HOST PORT | hold REGISTRY RUN LAYERS | rootless REGISTRY LAYERS".into()),
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
        // A caller that is gone already needs no answer.
        let _ = stream.write_all(peer.ip().to_string().as_bytes());
    }
}

/// Deploys, says so, and waits to be killed.
fn hold(registry: &str, run: &str, layers: &str) -> Outcome {
    let ground = Ground::prepare_in(&Registry::at(registry)?, run.parse()?)?;
    let (_deployment, answer) = deploy_and_ask(&ground, layers)?;
    println!("{answer}");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Deploys inside a user namespace, and prints the answer and what was left out, a line each.
fn rootless(registry: &str, layers: &str) -> Outcome {
    enter_user_namespace()?;
    let ground = Ground::prepare_in(&Registry::at(registry)?, "00beef".parse()?)?;
    let (deployment, answer) = deploy_and_ask(&ground, layers)?;
    println!("{answer}");
    deployment.left_out().iter().for_each(|sentence| println!("{sentence}"));
    deployment.stop()?;
    ground.remove()?;
    Ok(())
}

fn deploy_and_ask(
    ground: &Ground,
    layers: &str,
) -> Result<(Box<dyn Deployment>, String), Box<dyn std::error::Error>> {
    let layers: Vec<Layer> = serde_json::from_str(layers)?;
    let helper = std::env::current_exe()?.display().to_string();
    let argv = [&helper, "serve", "{host}", "{port}"].map(str::to_owned).to_vec();
    let deployment = Local { layers }.deploy(ground, &Service { argv, ..Service::default() })?;
    let answer = ask(ground.client(), deployment.address())?;
    Ok((deployment, answer))
}

fn ask(client: &Netns, address: SocketAddr) -> Result<String, loadline_platform::Error> {
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
