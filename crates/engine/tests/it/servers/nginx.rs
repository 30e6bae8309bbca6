//! nginx, with a log that tells by which connection each request came and how.

use std::path::Path;

use super::{Process, wait_for};

/// A running nginx of one process.
pub struct Nginx {
    process: Process,
}

/// What its log says of one request.
#[derive(Clone, Debug)]
pub struct Logged {
    /// Number of the connection, the same for all its requests.
    pub connection: u64,
    /// Which request of its connection, from 1.
    pub of_connection: u64,
    pub client: String,
    /// `HTTP/1.1`, `HTTP/2.0`.
    pub protocol: String,
    pub status: u16,
    pub method: String,
    pub path: String,
    /// The request's `Connection` header, or `-`.
    pub connection_header: String,
    /// Whether the TLS session was resumed.
    pub resumed: bool,
    /// The name that was asked for by SNI, or `-`.
    pub server_name: String,
    /// The subject of the client's certificate, or `-`.
    pub client_subject: String,
}

impl Nginx {
    /// nginx with these `server { … }` blocks; `{folder}` in them is the server's folder, where `files` are.
    pub fn start(servers: &str, files: &[(&str, &[u8])]) -> Nginx {
        Nginx::start_by(&[], servers, files)
    }

    /// The same, started by another command: `["unshare", "--net"]`, say.
    pub fn start_by(command: &[&str], servers: &str, files: &[(&str, &[u8])]) -> Nginx {
        // One process: what is started here is what is ended.
        Nginx::start_with("master_process off;", command, servers, files)
    }

    /// nginx with several processes; the command has to end them all when it is ended.
    pub fn start_many(processes: u64, command: &[&str], servers: &str) -> Nginx {
        Nginx::start_with(&format!("user root; worker_processes {processes};"), command, servers, &[])
    }

    fn start_with(processes: &str, command: &[&str], servers: &str, files: &[(&str, &[u8])]) -> Nginx {
        let folder = Process::folder();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let configuration =
            configuration(processes, servers).replace("{folder}", &folder.path().display().to_string());
        std::fs::write(folder.path().join("nginx.conf"), configuration).unwrap();
        let prefix = folder.path().display().to_string();
        let mut command = command.to_vec();
        command.extend(["nginx", "-p", &prefix, "-c", "nginx.conf", "-e", "error.log"]);
        // It writes the file when it listens.
        let is_up = |folder: &Path| folder.join("nginx.pid").metadata().is_ok_and(|file| file.len() > 0);
        Nginx { process: Process::start(folder, command[0], &command[1..]).wait_until_up(is_up) }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// A file in its folder.
    pub fn path(&self, name: &str) -> std::path::PathBuf {
        self.process.path(name)
    }

    /// The log, once it tells of so many requests.
    pub fn log(&self, requests: u64) -> Vec<Logged> {
        let read = || std::fs::read_to_string(self.path("access.log")).unwrap_or_default();
        wait_for("the log of nginx", || read().matches('\n').count() as u64 >= requests);
        read().lines().map(parse).collect()
    }
}

fn configuration(processes: &str, servers: &str) -> String {
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {{folder}}/{kind};\n"))
        .concat();
    format!(
        "daemon off;
        {processes}
        pid nginx.pid;
        worker_rlimit_nofile 65000;
        events {{ worker_connections 60000; }}
        http {{
            {temporary}
            log_format told '$connection\\t$connection_requests\\t$remote_addr\\t$server_protocol\\t$status\\t'
                '$request_method\\t$uri\\t$http_connection\\t$ssl_session_reused\\t$ssl_server_name\\t$ssl_client_s_dn';
            access_log access.log told;
            keepalive_requests 1000000;
            {servers}
        }}"
    )
}

fn parse(line: &str) -> Logged {
    let fields: Vec<&str> = line.split('\t').collect();
    let [connection, of_connection, client, protocol, status, method, path, header, resumed, name, subject] =
        fields[..]
    else {
        panic!("not a line of the log: {line}")
    };
    let or_dash = |field: &str| if field.is_empty() { "-".to_owned() } else { field.to_owned() };
    Logged {
        connection: connection.parse().unwrap(),
        of_connection: of_connection.parse().unwrap(),
        client: client.to_owned(),
        protocol: protocol.to_owned(),
        status: status.parse().unwrap(),
        method: method.to_owned(),
        path: path.to_owned(),
        connection_header: or_dash(header),
        resumed: resumed == "r",
        server_name: or_dash(name),
        client_subject: or_dash(subject),
    }
}

/// How many different connections carried these requests.
pub fn connections(log: &[Logged]) -> u64 {
    let mut numbers: Vec<u64> = log.iter().map(|request| request.connection).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len() as u64
}
