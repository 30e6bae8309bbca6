//! Transfers of images into Docker: pulled from a registry, or loaded from a file. They have no timeout as long as there is progress, which
//! they report.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bollard::{
    errors::Error as Failure,
    models::{BuildInfo, CreateImageInfo},
    query_parameters::{CreateImageOptionsBuilder, ImportImageOptionsBuilder},
};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use tokio::time::timeout;

use crate::{client::Client, error::DockerError};

/// A transfer without any progress for this long is aborted.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);
/// How often progress is reported.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
const CHUNK_BYTES: usize = 256 << 10;

/// Pulls `name`, which has a tag or a digest.
pub(crate) fn pull(client: &Client, name: &str, progress: &mut dyn FnMut(&str)) -> Result<(), DockerError> {
    let options = CreateImageOptionsBuilder::default().from_image(name).build();
    client.block_on(|api| async move {
        let answers = api.create_image(Some(options), None, None);
        let pulling = Pulling { name, layers: HashMap::new() };
        follow(client, &format!("pull {name}"), answers, pulling, progress).await
    })
}

/// Loads the archive in `file`, which messages call `what`.
pub(crate) fn load(
    client: &Client,
    file: File,
    what: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<(), DockerError> {
    let total_bytes = file.metadata().map_or(0, |metadata| metadata.len());
    let sent_bytes = Arc::new(AtomicU64::new(0));
    let body = chunks(file, Arc::clone(&sent_bytes));
    client.block_on(|api| async move {
        let options = ImportImageOptionsBuilder::default().build();
        let answers = Box::pin(api.import_image_stream(options, body, None));
        let loading = Loading { what, sent_bytes, total_bytes };
        follow(client, &format!("load {what}"), answers, loading, progress).await
    })
}

/// The rest of the file in chunks, counted as they are sent.
fn chunks(file: File, sent: Arc<AtomicU64>) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    stream::unfold((file, sent), |(mut file, sent)| async move {
        let mut chunk = vec![0; CHUNK_BYTES];
        match file.read(&mut chunk) {
            Ok(0) => None,
            Ok(length) => {
                chunk.truncate(length);
                sent.fetch_add(length as u64, Ordering::Relaxed);
                Some((Ok(Bytes::from(chunk)), (file, sent)))
            }
            Err(error) => Some((Err(error), (file, sent))),
        }
    })
}

/// A transfer in progress, which Docker reports in `Answer`s.
trait Transfer {
    type Answer;
    fn update(&mut self, answer: Self::Answer);
    /// Grows with progress that Docker does not report.
    fn sent_bytes(&self) -> u64;
    fn progress_text(&self) -> String;
}

async fn follow<T: Transfer>(
    client: &Client,
    what: &str,
    mut answers: impl Stream<Item = Result<T::Answer, Failure>> + Unpin,
    mut transfer: T,
    progress: &mut dyn FnMut(&str),
) -> Result<(), DockerError> {
    let (mut progress_text, mut moved, mut sent) = (Instant::now(), Instant::now(), 0);
    loop {
        match timeout(PROGRESS_INTERVAL, answers.next()).await {
            Ok(None) => return Ok(()),
            Ok(Some(Err(failure))) => return Err(client.explain(what, failure)),
            Ok(Some(Ok(answer))) => {
                transfer.update(answer);
                moved = Instant::now();
            }
            Err(_) => {}
        }
        if transfer.sent_bytes() != sent {
            sent = transfer.sent_bytes();
            moved = Instant::now();
        }
        if moved.elapsed() > STALL_TIMEOUT {
            return Err(DockerError::Stalled { what: what.to_owned(), seconds: STALL_TIMEOUT.as_secs() });
        }
        if progress_text.elapsed() >= PROGRESS_INTERVAL {
            progress(&transfer.progress_text());
            progress_text = Instant::now();
        }
    }
}

struct Loading<'a> {
    what: &'a str,
    sent_bytes: Arc<AtomicU64>,
    total_bytes: u64,
}

impl Transfer for Loading<'_> {
    type Answer = BuildInfo;

    fn update(&mut self, _: BuildInfo) {}

    fn sent_bytes(&self) -> u64 {
        self.sent_bytes.load(Ordering::Relaxed)
    }

    fn progress_text(&self) -> String {
        format!("loading {}: {}", self.what, part(self.sent_bytes(), self.total_bytes))
    }
}

struct Pulling<'a> {
    name: &'a str,
    /// Bytes fetched and total bytes of each layer that is being fetched.
    layers: HashMap<String, (u64, u64)>,
}

impl Transfer for Pulling<'_> {
    type Answer = CreateImageInfo;

    fn update(&mut self, answer: CreateImageInfo) {
        let Some(id) = answer.id else { return };
        let detail = answer.progress_detail.as_ref();
        match answer.status.as_deref() {
            Some("Downloading") => {
                let bytes = |count: Option<i64>| {
                    count.and_then(|count| u64::try_from(count).ok()).unwrap_or_default()
                };
                let layer = detail.map(|detail| (bytes(detail.current), bytes(detail.total)));
                self.layers.insert(id, layer.unwrap_or_default());
            }
            Some("Download complete") => {
                self.layers.entry(id).and_modify(|(fetched, total)| *fetched = *total);
            }
            _ => {}
        }
    }

    fn sent_bytes(&self) -> u64 {
        0
    }

    fn progress_text(&self) -> String {
        let (fetched, total) =
            self.layers.values().fold((0, 0), |sum, layer| (sum.0 + layer.0, sum.1 + layer.1));
        format!("pulling {}: {}", self.name, part(fetched, total))
    }
}

fn part(done_bytes: u64, total_bytes: u64) -> String {
    let megabytes = total_bytes.div_ceil(1_000_000);
    match (done_bytes * 100).checked_div(total_bytes) {
        None => "waiting".to_owned(),
        Some(100) => format!("unpacking {megabytes} MB"),
        Some(percent) => format!("{percent} % of {megabytes} MB"),
    }
}

#[cfg(test)]
mod tests {
    use bollard::models::ProgressDetail;

    use super::*;

    fn answer(id: &str, status: &str, current: i64, total: i64) -> CreateImageInfo {
        CreateImageInfo {
            id: Some(id.to_owned()),
            status: Some(status.to_owned()),
            progress_detail: Some(ProgressDetail { current: Some(current), total: Some(total) }),
            ..Default::default()
        }
    }

    #[test]
    fn the_progress_of_a_pull_covers_all_its_layers() {
        let mut pulling = Pulling { name: "orders:1.0", layers: HashMap::new() };
        assert_eq!(pulling.progress_text(), "pulling orders:1.0: waiting");
        pulling.update(answer("1.0", "Pulling from library/orders", 0, 0));
        pulling.update(answer("aa", "Downloading", 1_000_000, 6_000_000));
        pulling.update(answer("bb", "Downloading", 1_000_000, 2_000_000));
        assert_eq!(pulling.progress_text(), "pulling orders:1.0: 25 % of 8 MB");
        pulling.update(answer("bb", "Download complete", 0, 0));
        pulling.update(answer("bb", "Extracting", 5, 10));
        assert_eq!(pulling.progress_text(), "pulling orders:1.0: 37 % of 8 MB");
        pulling.update(answer("aa", "Download complete", 0, 0));
        assert_eq!(pulling.progress_text(), "pulling orders:1.0: unpacking 8 MB");
    }
}
