//! Docker Engine runs images of folders with a shell, Python, Java, Node.js and nginx: each as user 1000, without any file of this machine.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::made::folder::Folder;
use crate::runtimes::docker::Docker;
use crate::runtimes::run;

/// Loads the image of a folder; its name.
fn loaded(docker: &Docker, folder: &Folder, with: &[&str], command: &[&str]) -> String {
    let image = folder.image(with, command).expect("an image");
    let path = folder.beside().join("image.tar");
    let archive = image.archive().expect("an archive");
    archive.write(File::create(&path).expect("a file")).expect("written");
    docker.run(&["load", "--quiet", "--input", &path.display().to_string()]);
    assert_eq!(
        docker.run(&["image", "inspect", "--format", "{{.Id}}", &image.name.to_string()]),
        archive.image_id()
    );
    image.name.to_string()
}

/// Finds that an image's service answers with this text.
fn assert_answers(docker: &Docker, name: &str, expected: &str) {
    let hardened = ["--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges"];
    for options in [&hardened[..], &[]] {
        docker.contained(&[options, &[name]].concat(), |it| {
            let answer = it.healthz();
            assert!(answer.starts_with("HTTP/1.") && answer.contains(" 200 "), "{answer}");
            assert!(answer.ends_with(expected), "{answer}");
        });
    }
}

#[test]
fn a_script_runs_with_a_shell_as_user_1000() {
    let docker = Docker::start();
    let folder = Folder::new();
    folder.program(
        "serve.sh",
        "#!/bin/sh\nread who < who\necho \"$who in $PWD as $(id -u):$(id -g), $*\"\n: > /tmp/written\n",
    );
    folder.file("who", "a script\n");
    let name = loaded(&docker, &folder, &["/bin/sh", "id"], &["./serve.sh", "told", "by the image"]);
    let run =
        |arguments: &[&str]| docker.run(&[&["run", "--rm", "--network=none", &name], arguments].concat());
    assert_eq!(run(&[]), "a script in /app as 1000:1000, told by the image");
    assert_eq!(run(&["told", "by hand"]), "a script in /app as 1000:1000, told by hand");
}

#[test]
fn python_serves_with_its_standard_library() {
    let docker = Docker::start();
    let folder = Folder::new();
    folder.file(
        "app.py",
        "import ctypes, hashlib, json, os, socket, sqlite3, ssl, threading, zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps([os.getuid(), os.getcwd(), sqlite3.connect('/tmp/a').execute('select 6 * 7').fetchone()])
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body.encode())

assert socket.gethostbyname('localhost') == '127.0.0.1'
ThreadingHTTPServer(('127.0.0.1', 8080), Handler).serve_forever()
",
    );
    let name = loaded(&docker, &folder, &["python3"], &["python3", "app.py"]);
    assert_answers(&docker, &name, "[1000, \"/app\", [42]]");
}

#[test]
fn node_serves() {
    let docker = Docker::start();
    let folder = Folder::new();
    folder.file("server.js", "const say = require('./lib/say'); require('node:http').createServer((_, to) => to.end(say())).listen(8080, '127.0.0.1')");
    folder.file(
        "lib/say.js",
        "module.exports = () => `${process.getuid()} ${new Intl.NumberFormat('de').format(1234.5)}`",
    );
    let name = loaded(&docker, &folder, &["node"], &["node", "server.js"]);
    assert_answers(&docker, &name, "1000 1.234,5");
}

const JAVA: &str = "
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

public class Service {
    public static void main(String[] arguments) throws Exception {
        var server = HttpServer.create(new InetSocketAddress(\"127.0.0.1\", 8080), 0);
        server.createContext(\"/\", exchange -> {
            var body = (System.getProperty(\"java.specification.version\") + \" \" + System.getProperty(\"user.dir\")
                + \" \" + javax.crypto.KeyAgreement.class.getModule().getName()).getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }
}
";

/// The JDKs of this machine: the one that is found first, and those of Debian's folder.
fn jdks() -> Vec<PathBuf> {
    let found = Command::new("java").args(["-XshowSettings:properties", "-version"]).output();
    let found = String::from_utf8(found.expect("this test needs a JDK: make tools-test installs it").stderr);
    let found = found
        .expect("text")
        .lines()
        .find_map(|line| line.trim().strip_prefix("java.home = ").map(PathBuf::from));
    let others =
        fs::read_dir("/usr/lib/jvm").into_iter().flatten().map(|entry| entry.expect("an entry").path());
    let mut homes: Vec<PathBuf> =
        found.into_iter().chain(others).filter_map(|home| home.canonicalize().ok()).collect();
    homes.retain(|home| home.join("bin/jlink").is_file() && home.join("bin/javac").is_file());
    homes.sort();
    homes.dedup();
    assert!(!homes.is_empty(), "this test needs a JDK: make tools-test installs it");
    homes
}

#[test]
fn java_serves_with_a_runtime_that_jlink_made_of_each_jdk() {
    let docker = Docker::start();
    for home in jdks() {
        let folder = Folder::new();
        fs::write(folder.beside().join("Service.java"), JAVA).expect("a file");
        let mut javac = Command::new(home.join("bin/javac"));
        run(javac.arg("-d").arg(folder.path()).arg(folder.beside().join("Service.java")));
        let java = home.join("bin/java").display().to_string();
        let release = fs::read_to_string(home.join("release")).expect("a description");
        let version =
            release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\"")).expect("a version");
        let version = version.split(['.', '"']).next().expect("a number");
        let name = loaded(&docker, &folder, &[&java], &["java", "-Xmx64m", "Service"]);
        assert_answers(&docker, &name, &format!("{version} /app java.base"));
        // Its runtime is one already.
        let made = folder.beside().join("runtime");
        let mut jlink = Command::new(home.join("bin/jlink"));
        run(jlink.args(["--add-modules", "jdk.httpserver", "--output"]).arg(&made));
        let java = made.join("bin/java").display().to_string();
        let name = loaded(&docker, &folder, &[&java], &[&java, "-Xmx64m", "Service"]);
        assert_answers(&docker, &name, &format!("{version} /app java.base"));
    }
}

#[test]
fn nginx_serves_a_folder() {
    if !Path::new("/usr/sbin/nginx").is_file() {
        panic!("this test needs nginx: make tools-test installs it");
    }
    let docker = Docker::start();
    let folder = Folder::new();
    folder.file("www/healthz", "ok").file(
        "nginx.conf",
        "pid /tmp/pid; daemon off; events {} http { access_log off;
        client_body_temp_path /tmp/a; proxy_temp_path /tmp/b; fastcgi_temp_path /tmp/c; uwsgi_temp_path /tmp/d; scgi_temp_path /tmp/e;
        server { listen 127.0.0.1:8080; root /app/www; } }",
    );
    let command = ["/usr/sbin/nginx", "-e", "stderr", "-c", "/app/nginx.conf"];
    let name = loaded(&docker, &folder, &["/usr/sbin/nginx"], &command);
    assert_answers(&docker, &name, "ok");
}
