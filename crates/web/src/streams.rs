//! News of a run as it comes, over server-sent events (HTML Standard, section 9.2).

use std::convert::Infallible;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::{Stream, StreamExt, stream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::Site;
use crate::failure::Failure;
use crate::queue::Job;

/// Streams at once.
const MOST: usize = 100;
/// Slices in one event; the rest comes with the next.
const MOST_SLICES: usize = 5_000;

/// How many streams there may be.
pub(crate) struct Streams(Arc<Semaphore>);

impl Default for Streams {
    fn default() -> Streams {
        Streams(Arc::new(Semaphore::new(MOST)))
    }
}

impl Streams {
    /// The status of a run whenever there is news, as `status` events, and the slices that are new, as `slices` events. It ends with the run.
    /// Nothing is kept for a reader that is slow: it gets the latest status next.
    pub(crate) fn follow(
        &self,
        site: Arc<Site>,
        job: Arc<Job>,
    ) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>, Failure> {
        let Ok(place) = self.0.clone().try_acquire_owned() else {
            let sentence = format!("{MOST} windows follow runs already: close one");
            return Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, sentence));
        };
        let news = job.news();
        let following =
            Following { site, job, news, sent: 0, has_begun: false, has_ended: false, _place: place };
        let events = stream::unfold(following, |mut following| async move {
            let events = following.next().await?;
            Some((stream::iter(events.into_iter().map(Ok)), following))
        });
        Ok(Sse::new(events.flatten()).keep_alive(KeepAlive::default()))
    }
}

/// A reader of one run's news.
struct Following {
    site: Arc<Site>,
    job: Arc<Job>,
    news: watch::Receiver<()>,
    /// Slices that it was sent.
    sent: usize,
    has_begun: bool,
    /// Whether it was told of the end.
    has_ended: bool,
    _place: OwnedSemaphorePermit,
}

impl Following {
    /// What is known at first, and then what is new, once there is something; `None` after the end.
    async fn next(&mut self) -> Option<Vec<Event>> {
        if self.has_ended {
            return None;
        }
        if std::mem::replace(&mut self.has_begun, true) {
            self.news.changed().await.ok()?;
        }
        // Asked first: if it ends from here on, there is news of that.
        self.has_ended = self.job.has_ended();
        let mut events = Vec::new();
        loop {
            let slices = self.job.slices_from(self.sent, MOST_SLICES);
            self.sent += slices.len();
            if slices.is_empty() {
                break;
            }
            events.push(Event::default().event("slices").json_data(slices));
        }
        events.push(Event::default().event("status").json_data(self.site.queue.status(&self.job)));
        // What cannot be written as JSON is no news.
        Some(events.into_iter().filter_map(Result::ok).collect())
    }
}
