//! A running service: its state, and the dispatch of requests to the part that answers them.
//! Stalls and the health check are the same for every service, so they are handled here.

use std::time::{Duration, Instant};

use hyper::body::Body;
use hyper::{Method, Request};
use tokio::sync::Mutex;

use crate::precise_sleep::Sleeper;
use crate::reply::{self, Reply};
use crate::{Builtin, Options, Stall, cpu, hello, orders};

enum Service {
    Orders(orders::Service),
    Hello(hello::Service),
    Cpu,
}

/// A running service.
pub(crate) struct App {
    service: Service,
    stall: Option<Stall>,
    started: Instant,
    /// What waits for the end of a stall: the first request for the time, the others for the first.
    stalled: Mutex<Sleeper>,
}

impl App {
    pub(crate) fn start(builtin: Builtin, options: Options) -> Self {
        let service = match builtin {
            Builtin::Orders(settings) => Service::Orders(orders::Service::new(settings)),
            Builtin::Hello(settings) => Service::Hello(hello::Service::new(settings)),
            Builtin::Cpu => Service::Cpu,
        };
        let stalled = Mutex::new(Sleeper::new());
        Self { service, stall: options.stall, started: Instant::now(), stalled }
    }

    /// Answers one request, after the current stall if there is one.
    pub(crate) async fn answer<B>(&self, request: Request<B>) -> Reply
    where
        B: Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if self.stalled_for().is_some() {
            let sleeper = self.stalled.lock().await;
            if let Some(left) = self.stalled_for()
                && sleeper.sleep(left).await.is_err()
            {
                // Without a timer of its own the stall is up to a millisecond longer.
                tokio::time::sleep(left).await;
            }
        }
        if request.uri().path() == "/healthz" {
            return match *request.method() {
                Method::GET => reply::ok("ok"),
                _ => reply::method_not_allowed("GET"),
            };
        }
        match &self.service {
            Service::Orders(orders) => orders.answer(request).await,
            Service::Hello(hello) => hello.answer(&request),
            Service::Cpu => cpu::answer(&request).await,
        }
    }

    fn stalled_for(&self) -> Option<Duration> {
        self.stall?.remaining(self.started.elapsed())
    }
}
