//! News of a run as it comes, over server-sent events (HTML Standard, section 9.2).

use std::convert::Infallible;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::Stream;
use tokio::sync::Semaphore;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::WatchStream;

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
        let (mut sent, mut is_over) = (0, false);
        let of_job = job.clone();
        let news = WatchStream::new(job.news())
            .take_while(move |()| !std::mem::replace(&mut is_over, of_job.has_ended()));
        let events = news.map(move |()| {
            let _ = &place;
            let mut events = Vec::new();
            loop {
                let slices = job.slices_from(sent, MOST_SLICES);
                sent += slices.len();
                if slices.is_empty() {
                    break;
                }
                events.push(Event::default().event("slices").json_data(slices));
            }
            events.push(Event::default().event("status").json_data(site.queue.status(&job)));
            // What cannot be written as JSON is no news.
            futures_util::stream::iter(events.into_iter().filter_map(Result::ok).map(Ok))
        });
        Ok(Sse::new(futures_util::StreamExt::flatten(events)).keep_alive(KeepAlive::default()))
    }
}
