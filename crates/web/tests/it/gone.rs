//! Clients that go before they are answered.

use crate::made_up::{PATIENCE, Server};

#[test]
fn a_history_that_nobody_waits_for_any_more_is_told_to_stop() {
    let server = Server::start();
    let client = server.send("GET /api/history?metric=endless", "");
    assert_eq!(server.told.recv_timeout(PATIENCE), Ok("a history has begun"));
    drop(client);
    assert_eq!(server.told.recv_timeout(PATIENCE), Ok("a history was stopped"));
}
