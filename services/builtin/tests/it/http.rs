//! The contract of the built-in services, checked over real sockets.
//! HTTP/1.1 goes over a plain stream so that what is on the wire is seen; HTTP/2 through hyper's client.

use std::error::Error;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use loadline_services::{Builtin, Hello, Options, Orders, run};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

type Failure = Box<dyn Error + Send + Sync>;
type Outcome = Result<(), Failure>;

async fn start(service: Builtin, options: Options) -> Result<SocketAddr, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(run(listener, service, options));
    Ok(address)
}

async fn start_plain(service: Builtin) -> Result<SocketAddr, Failure> {
    start(service, Options::default()).await
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

/// An HTTP/1.1 connection that is used again and again.
struct Connection(TcpStream);

impl Connection {
    async fn open(address: SocketAddr) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self(stream))
    }

    async fn get(&mut self, path: &str) -> Result<Answer, Failure> {
        self.send("GET", path, "").await
    }

    async fn send(&mut self, method: &str, path: &str, body: &str) -> Result<Answer, Failure> {
        let length = body.len();
        let request =
            format!("{method} {path} HTTP/1.1\r\nHost: service\r\nContent-Length: {length}\r\n\r\n{body}");
        self.0.write_all(request.as_bytes()).await?;
        let mut read = Vec::new();
        let head_end = loop {
            if let Some(at) = read.windows(4).position(|w| w == b"\r\n\r\n") {
                break at + 4;
            }
            if self.0.read_buf(&mut read).await? == 0 {
                return Err("the service closed the connection".into());
            }
        };
        let head = String::from_utf8(read[..head_end].to_vec())?.to_ascii_lowercase();
        let status = head.split(' ').nth(1).ok_or("no status")?.parse()?;
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.ok_or("no content-length")?.parse()?;
        let mut body = read.split_off(head_end);
        while body.len() < length {
            if self.0.read_buf(&mut body).await? == 0 {
                return Err("the body ended early".into());
            }
        }
        Ok(Answer { status, head, body })
    }
}

#[tokio::test]
async fn every_service_says_that_it_is_healthy() -> Outcome {
    for service in [Builtin::Orders(Orders::default()), Builtin::Hello(Hello::default()), Builtin::Cpu] {
        let mut connection = Connection::open(start_plain(service).await?).await?;
        let answer = connection.get("/healthz").await?;
        assert_eq!((answer.status, answer.body.as_slice()), (200, b"ok".as_slice()));
        assert_eq!(connection.send("POST", "/healthz", "").await?.status, 405);
    }
    Ok(())
}

#[tokio::test]
async fn orders_are_about_a_kilobyte_of_json_and_the_connection_is_kept() -> Outcome {
    let mut connection = Connection::open(start_plain(Builtin::Orders(Orders::default())).await?).await?;
    let first = connection.get("/api/orders").await?;
    assert_eq!(first.status, 200);
    assert!(first.head.contains("content-type: application/json\r\n"), "{}", first.head);
    assert!((800..=1_200).contains(&first.body.len()), "{} bytes", first.body.len());
    let orders: Vec<serde_json::Value> = serde_json::from_slice(&first.body)?;
    assert_eq!(orders.len(), 12);
    assert_eq!(orders[0]["customerName"], "Customer-1");
    for _ in 0..20 {
        assert_eq!(connection.get("/api/orders").await?.body, first.body);
    }
    Ok(())
}

#[tokio::test]
async fn the_number_of_orders_is_what_was_asked_for() -> Outcome {
    let service = Builtin::Orders(Orders { orders: 1_000, ..Orders::default() });
    let answer = Connection::open(start_plain(service).await?).await?.get("/api/orders").await?;
    assert_eq!(serde_json::from_slice::<Vec<serde_json::Value>>(&answer.body)?.len(), 1_000);
    assert!((60_000..=90_000).contains(&answer.body.len()), "{} bytes", answer.body.len());
    Ok(())
}

#[tokio::test]
async fn a_posted_order_is_answered_with_itself_and_not_kept() -> Outcome {
    let mut connection = Connection::open(start_plain(Builtin::Orders(Orders::default())).await?).await?;
    let before = connection.get("/api/orders").await?.body;
    let posted = connection.send("POST", "/api/orders", r#"{"customerName":"Ada","total":12.5}"#).await?;
    assert_eq!(posted.status, 201);
    let order: serde_json::Value = serde_json::from_slice(&posted.body)?;
    let expected = serde_json::json!(
        {"id": 13, "customerName": "Ada", "total": 12.5, "status": "PROCESSING"}
    );
    assert_eq!(order, expected);
    assert_eq!(connection.get("/api/orders").await?.body, before);
    Ok(())
}

#[tokio::test]
async fn what_is_no_order_is_refused_and_the_connection_goes_on() -> Outcome {
    let mut connection = Connection::open(start_plain(Builtin::Orders(Orders::default())).await?).await?;
    for body in ["", "not json", "[]", r#"{"customerName":"Ada"}"#, r#"{"customerName":1,"total":2}"#] {
        let answer = connection.send("POST", "/api/orders", body).await?;
        assert_eq!(answer.status, 400, "{body}");
        assert!(answer.body.ends_with(b".\n"), "a refusal is a sentence");
    }
    assert_eq!(connection.get("/api/orders").await?.status, 200);
    Ok(())
}

#[tokio::test]
async fn an_order_of_a_megabyte_is_too_large() -> Outcome {
    let address = start_plain(Builtin::Orders(Orders::default())).await?;
    let mut stream = TcpStream::connect(address).await?;
    // Only the head is sent: the length alone must be reason enough.
    let head = "POST /api/orders HTTP/1.1\r\nHost: s\r\nContent-Length: 1000000\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&vec![b' '; 100_000]).await?;
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await?;
    assert_eq!(&answer, b"HTTP/1.1 413");
    Ok(())
}

#[tokio::test]
async fn unknown_paths_and_other_methods_are_told_apart() -> Outcome {
    let orders = start_plain(Builtin::Orders(Orders::default())).await?;
    let hello = start_plain(Builtin::Hello(Hello::default())).await?;
    let cpu = start_plain(Builtin::Cpu).await?;
    for (address, unknown, known) in
        [(orders, "/api/order", "/api/orders"), (hello, "/hello/", "/hello/1"), (cpu, "/cpu/1", "/cpu?n=1")]
    {
        let mut connection = Connection::open(address).await?;
        assert_eq!(connection.get(unknown).await?.status, 404, "{unknown}");
        let refused = connection.send("DELETE", known, "").await?;
        assert_eq!(refused.status, 405, "{known}");
        assert!(refused.head.contains("\r\nallow: get"), "{}", refused.head);
    }
    Ok(())
}

#[tokio::test]
async fn hello_answers_for_warm_and_for_new_keys() -> Outcome {
    let mut connection = Connection::open(start_plain(Builtin::Hello(Hello::default())).await?).await?;
    for key in ["0", "999", "virtual", "virtual"] {
        let answer = connection.get(&format!("/hello/{key}")).await?;
        assert_eq!(answer.status, 200);
        assert!(answer.head.contains("content-type: text/plain"), "{}", answer.head);
        assert_eq!(String::from_utf8(answer.body)?, format!("value-{key}"));
    }
    Ok(())
}

#[tokio::test]
async fn cpu_computes_fibonacci_numbers_within_its_bounds() -> Outcome {
    let mut connection = Connection::open(start_plain(Builtin::Cpu).await?).await?;
    // The last one is computed on a thread of its own.
    for (n, number) in [(0, "0"), (20, "6765"), (30, "832040")] {
        let answer = connection.get(&format!("/cpu?n={n}")).await?;
        assert_eq!((answer.status, String::from_utf8(answer.body)?.as_str()), (200, number));
    }
    for wrong in ["/cpu", "/cpu?n=", "/cpu?n=46", "/cpu?n=-1", "/cpu?n=x"] {
        let answer = connection.get(wrong).await?;
        assert_eq!(answer.status, 400, "{wrong}");
        assert!(answer.body.ends_with(b".\n"), "a refusal is a sentence");
    }
    Ok(())
}

#[tokio::test]
async fn http2_with_prior_knowledge_shares_the_port() -> Outcome {
    let address = start_plain(Builtin::Orders(Orders::default())).await?;
    let over_http1 = Connection::open(address).await?.get("/api/orders").await?.body;

    let stream = TokioIo::new(TcpStream::connect(address).await?);
    let (mut client, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await?;
    tokio::spawn(connection);
    for (method, path, status) in [
        ("GET", "/api/orders", StatusCode::OK),
        ("GET", "/healthz", StatusCode::OK),
        ("PUT", "/api/orders", StatusCode::METHOD_NOT_ALLOWED),
    ] {
        let uri = format!("http://{address}{path}");
        let request = Request::builder().method(method).uri(uri).body(Full::<Bytes>::default())?;
        let response = client.send_request(request).await?;
        assert_eq!((response.version(), response.status()), (hyper::Version::HTTP_2, status));
        let body = response.into_body().collect().await?.to_bytes();
        if path == "/api/orders" && status == StatusCode::OK {
            assert_eq!(body, over_http1);
        }
    }
    Ok(())
}

/// The median time from writing a request to the end of its answer, over one connection.
async fn median_service_time(delay: Option<&str>) -> Result<Duration, Failure> {
    let delay = delay.map(str::parse).transpose()?;
    let service = Builtin::Orders(Orders { delay, ..Orders::default() });
    let mut connection = Connection::open(start_plain(service).await?).await?;
    let mut times = Vec::with_capacity(2_000);
    for _ in 0..2_000 {
        let written = Instant::now();
        connection.get("/api/orders").await?;
        times.push(written.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delay_is_added_to_every_answer_and_is_never_shorter_than_asked() -> Outcome {
    let plain = median_service_time(None).await?;
    let delayed = median_service_time(Some("200us")).await?;
    println!("median service time {plain:?}, with a delay of 200us {delayed:?}: {:?} more", delayed - plain);
    assert!(delayed >= Duration::from_micros(200));
    Ok(())
}

#[tokio::test]
async fn delayed_requests_do_not_wait_for_each_other() -> Outcome {
    let delay = Some("300ms".parse()?);
    let address = start_plain(Builtin::Orders(Orders { delay, ..Orders::default() })).await?;
    let begun = Instant::now();
    let requests: Vec<_> = (0..20)
        .map(|_| {
            tokio::spawn(async move {
                Ok::<_, Failure>(Connection::open(address).await?.get("/api/orders").await?.status)
            })
        })
        .collect();
    for request in requests {
        assert_eq!(request.await??, 200);
    }
    // One after the other they would take 6 s.
    assert!(begun.elapsed() >= Duration::from_millis(300));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    Ok(())
}

#[tokio::test]
async fn a_stalled_service_answers_when_its_stall_is_over() -> Outcome {
    let options = Options { stall: Some("500ms/1s".parse()?) };
    let address = start(Builtin::Orders(Orders::default()), options).await?;
    let started = Instant::now();
    let mut connection = Connection::open(address).await?;
    // The first half of the cycle answers; the end of the first cycle is the end of the first stall.
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(connection.get("/healthz").await?.status, 200);
    assert!(started.elapsed() >= Duration::from_millis(950), "{:?}", started.elapsed());
    Ok(())
}
