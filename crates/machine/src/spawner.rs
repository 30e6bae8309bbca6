//! The thread that starts every service of a run and lives as long as the run does, in the node's network namespace.
//! It has to: `PR_SET_PDEATHSIG` kills a child when the thread that forked it ends, not only its process.

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
    error::{Doing, Error},
    sys::ChildSetup,
};

type Spawned = Result<Child, (&'static str, io::Error)>;
type Order = (Command, ChildSetup, Sender<Spawned>);

pub(crate) struct Spawner {
    orders: Mutex<Sender<Order>>,
}

impl Spawner {
    pub fn start() -> Result<Spawner, Error> {
        let (orders, inbox): (_, Receiver<Order>) = channel();
        let serve = move || {
            for (mut command, setup, reply) in inbox {
                // The caller waits for the reply, so it is there to take it.
                let _ = reply.send(setup.spawn(&mut command));
            }
        };
        let builder = thread::Builder::new().name("spawner".to_owned());
        builder.spawn(serve).doing(|| "start the spawner thread")?;
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
