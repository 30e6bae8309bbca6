//! `/api/orders`: a list of orders that is serialised to JSON on every request, as a business service does.
//! The orders are generated once at the start from a fixed seed, so every deployment sends the same bytes.

use std::fmt::Display;
use std::num::NonZeroUsize;

use http_body_util::{BodyExt, Limited};
use hyper::body::Body;
use hyper::{Method, Request, StatusCode};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::delay::{Delay, Spread};
use crate::precise_sleep::Sleeper;
use crate::reply::{self, Reply};

const PATH: &str = "/api/orders";
const SEED: u64 = 1_000;
/// A larger body is rejected unread: an order has a few dozen bytes.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// Settings of the `orders` service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Orders {
    /// The number of orders in the list, about 75 bytes of JSON each.
    pub orders: usize,
    /// How much later than it could an answer from `/api/orders` leaves, exact to a few microseconds. The end of the delay is
    /// spent spinning, so a delayed request uses up to 40 µs more CPU time.
    pub delay: Option<Delay>,
    /// How many requests it works on at once, the delay included; the others wait in the order in which they came. `None`: all of them.
    pub at_once: Option<NonZeroUsize>,
}

/// 12 orders, about 1 KB, without a delay.
impl Default for Orders {
    fn default() -> Self {
        Self { orders: 12, delay: None, at_once: None }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Order {
    id: usize,
    customer_name: String,
    total: f64,
    status: Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
enum Status {
    Shipped,
    Processing,
}

/// The running service.
pub(crate) struct Service {
    orders: Vec<Order>,
    delay: Option<(Spread, Sleeper)>,
    at_once: Option<Semaphore>,
}

impl Service {
    pub(crate) fn new(settings: Orders) -> Self {
        let mut rng = Pcg64Mcg::seed_from_u64(SEED);
        let orders = (1..=settings.orders)
            .map(|id| Order {
                id,
                customer_name: format!("Customer-{id}"),
                total: f64::from(rng.random_range(1_000..=100_000_u32)) / 100.0,
                status: if rng.random_bool(0.5) { Status::Shipped } else { Status::Processing },
            })
            .collect();
        let delay = settings.delay.map(|delay| (Spread::new(delay), Sleeper::new()));
        // Fair: permits are given in the order in which they are asked for.
        Self { orders, delay, at_once: settings.at_once.map(|at_once| Semaphore::new(at_once.get())) }
    }

    pub(crate) async fn answer<B>(&self, request: Request<B>) -> Reply
    where
        B: Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if request.uri().path() != PATH {
            return reply::not_found(PATH);
        }
        // An error says that it was closed, which nobody does.
        let _turn = match &self.at_once {
            Some(at_once) => at_once.acquire().await.ok(),
            None => None,
        };
        let reply = match *request.method() {
            Method::GET => to_json(StatusCode::OK, &self.orders),
            Method::POST => self.take_order(request.into_body()).await,
            _ => return reply::method_not_allowed("GET, POST"),
        };
        // The delay comes after the work, so it is what the answer is late by, whatever the work takes.
        if let Some((spread, sleeper)) = &self.delay
            && let Err(error) = sleeper.sleep(spread.next()).await
        {
            return failed("Cannot get a timer for the delay", error);
        }
        reply
    }

    /// Answers with the order as it would be stored. It is not stored, so the list is the same for the next request.
    async fn take_order<B>(&self, body: B) -> Reply
    where
        B: Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let body = match Limited::new(body, MAX_BODY_BYTES).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<http_body_util::LengthLimitError>() => {
                return reply::text(StatusCode::PAYLOAD_TOO_LARGE, "An order may have at most 64 KiB.\n");
            }
            Err(error) => return reply::bad_request(format!("The body ended early: {error}.\n")),
        };
        match parse_order(&body) {
            Ok((customer_name, total)) => {
                let id = self.orders.len() + 1;
                to_json(StatusCode::CREATED, &Order { id, customer_name, total, status: Status::Processing })
            }
            Err(reason) => reply::bad_request(reason),
        }
    }
}

/// The name and the total of an order, or a sentence for the client about what is wrong with it.
fn parse_order(body: &[u8]) -> Result<(String, f64), String> {
    let value: Value = serde_json::from_slice(body).map_err(|e| format!("The body is not JSON: {e}.\n"))?;
    let Value::Object(mut order) = value else {
        return Err("An order must be a JSON object with customerName and total.\n".into());
    };
    let Some(Value::String(name)) = order.remove("customerName") else {
        return Err("An order needs its customerName, a string.\n".into());
    };
    let Some(total) = order.get("total").and_then(Value::as_f64) else {
        return Err("An order needs its total, a number.\n".into());
    };
    Ok((name, total))
}

fn to_json(status: StatusCode, value: &impl Serialize) -> Reply {
    match serde_json::to_vec(value) {
        Ok(body) => reply::json(status, body),
        Err(error) => failed("Cannot write the orders as JSON", error),
    }
}

fn failed(what: &str, error: impl Display) -> Reply {
    reply::text(StatusCode::INTERNAL_SERVER_ERROR, format!("{what}: {error}.\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_deployment_has_the_same_orders() {
        let settings = Orders { orders: 1_000, ..Orders::default() };
        let (one, other) = (Service::new(settings), Service::new(settings));
        assert_eq!(one.orders, other.orders);
        assert_eq!(one.orders.len(), 1_000);
        assert!(one.orders.iter().all(|o| (10.0..=1000.0).contains(&o.total)));
        assert!(one.orders.iter().any(|o| o.status == Status::Shipped));
        assert!(one.orders.iter().any(|o| o.status == Status::Processing));
    }

    #[test]
    fn an_order_has_the_documented_fields() -> serde_json::Result<()> {
        let order = Order { id: 3, customer_name: "Customer-3".into(), total: 12.5, status: Status::Shipped };
        let json = serde_json::to_string(&order)?;
        assert_eq!(json, r#"{"id":3,"customerName":"Customer-3","total":12.5,"status":"SHIPPED"}"#);
        Ok(())
    }

    #[test]
    fn an_order_is_an_object_with_a_name_and_a_total() {
        assert_eq!(parse_order(br#"{"customerName":"A","total":1,"note":true}"#), Ok(("A".into(), 1.0)));
        for wrong in ["", "[]", r#"["A", 1]"#, "{}", r#"{"customerName":"A"}"#, r#"{"total":1}"#] {
            assert!(parse_order(wrong.as_bytes()).is_err(), "{wrong}");
        }
        assert!(parse_order(br#"{"customerName":1,"total":1}"#).is_err());
        assert!(parse_order(br#"{"customerName":"A","total":"1"}"#).is_err());
    }

    proptest! {
        #[test]
        fn any_body_is_read_or_refused_without_a_panic(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_order(&body);
        }
    }
}
