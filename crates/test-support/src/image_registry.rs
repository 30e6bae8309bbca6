//! A registry of images with one image in it, as much as Docker needs for pulling (OCI distribution-spec, "Pull").

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    thread,
};

/// Media types of the archive's blobs that the registry must report.
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const BLOB: &str = "application/octet-stream";

/// Serves the image of an archive from the calling thread's network namespace. Returns its address, `127.0.0.1:PORT`, for which
/// Docker uses plain HTTP.
pub fn serve(archive: &Path) -> String {
    let files = files(archive);
    let index: serde_json::Value = serde_json::from_slice(&files["index.json"]).unwrap();
    let manifest = index["manifests"][0]["digest"].as_str().unwrap().to_owned();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            // Docker may close a connection before it is answered.
            let _ = answer(&stream.unwrap(), &files, &manifest);
        }
    });
    address
}

fn files(archive: &Path) -> HashMap<String, Vec<u8>> {
    let mut archive = tar::Archive::new(std::fs::File::open(archive).unwrap());
    let content = |entry: std::io::Result<tar::Entry<std::fs::File>>| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (entry.path().unwrap().display().to_string(), bytes)
    };
    archive.entries().unwrap().map(content).collect()
}

fn answer(stream: &TcpStream, files: &HashMap<String, Vec<u8>>, manifest: &str) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let last = path.rsplit('/').next().unwrap_or_default();
    let digest = if last.starts_with("sha256:") { last } else { manifest };
    let (kind, found) = match path {
        "/v2/" => (BLOB, Some(&[][..])),
        path if path.contains("/orders/") => {
            let blob = files.get(&format!("blobs/{}", digest.replace(':', "/"))).map(Vec::as_slice);
            (if path.contains("/manifests/") { MANIFEST } else { BLOB }, blob)
        }
        _ => (BLOB, None),
    };
    let (status, body) = found.map_or(("404 Not Found", &[][..]), |body| ("200 OK", body));
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nDocker-Distribution-Api-Version: registry/2.0\r\nDocker-Content-Digest: {digest}\r\n\
         Content-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    if method == "HEAD" { Ok(()) } else { stream.write_all(body) }
}
