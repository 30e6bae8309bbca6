//! The thread that starts every service of a run and lives as long as the run does, in the node's network namespace.
//! It must: `PR_SET_PDEATHSIG` kills a child when the thread that forked it ends, not only when its process does.

use std::{
    io,
    process::{Child, Command},
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use crate::{
    error::{Error, ErrorContext},
    sys::ChildSetup,
};

type Spawned = Result<Child, (&'static str, io::Error)>;
type SpawnRequest = (Command, ChildSetup, Sender<Spawned>);

pub(crate) struct Spawner {
    orders: Mutex<Sender<SpawnRequest>>,
}

impl Spawner {
    pub fn start() -> Result<Spawner, Error> {
        let (orders, inbox): (_, Receiver<SpawnRequest>) = channel();
        let serve = move || {
            for (mut command, setup, reply) in inbox {
                // The caller waits for the reply, so sending it cannot fail.
                let _ = reply.send(setup.spawn(&mut command));
            }
        };
        let builder = thread::Builder::new().name("spawner".to_owned());
        builder.spawn(serve).with_context(|| "start the spawner thread")?;
        Ok(Spawner { orders: Mutex::new(orders) })
    }

    /// Starts `command`. The child is killed when this spawner is dropped, if it lives that long.
    pub fn spawn(&self, command: Command, setup: ChildSetup) -> Spawned {
        let (reply, answer) = channel();
        let gone = || ("starting the program", io::Error::other("the spawner thread is gone"));
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        orders.send((command, setup, reply)).map_err(|_| gone())?;
        drop(orders);
        answer.recv().map_err(|_| gone())?
    }
}
