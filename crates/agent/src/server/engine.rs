//! A conversation about an engine. One thread listens while the other obeys, so that the end of the stream, or a stop, ends the slice under
//! way.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use loadline_engine::{Endpoint, Engine, EngineError, Mix, Options, Record, SliceSpec};
use loadline_observe::describe_machine;
use rustix::thread::{CpuSet, sched_getaffinity};

use super::conversation::{answer, end};
use crate::frame::{self, FrameError};
use crate::protocol::{Answer, EngineAsk, EngineSetup, EngineVerb};
use crate::record::Recorded;

/// Nothing that an engine is told to wait for or to last is longer.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Has an engine until the stream ends.
pub fn converse(stream: &TcpStream, setup: EngineSetup) -> Result<(), FrameError> {
    let stop = Arc::new(AtomicBool::new(false));
    let engine = match start(setup, stop.clone()) {
        Ok(engine) => engine,
        Err(sentence) => return answer(stream, Err::<(), _>(sentence)),
    };
    answer(stream, Ok(describe_machine()))?;
    let (asks, inbox) = sync_channel(1);
    std::thread::scope(|scope| {
        Builder::new().name("listener".to_owned()).spawn_scoped(scope, || listen(stream, asks, &stop))?;
        let result = obey(stream, engine, &inbox);
        // Ends the listener.
        end(stream);
        result
    })
}

/// Starts an engine that is stopped by `stop`, or says why it can't.
fn start(setup: EngineSetup, stop: Arc<AtomicBool>) -> Answer<Engine> {
    let cpus = setup.cpus.unwrap_or_default();
    check_cpus(&cpus)?;
    check_length("time-out", setup.timeout)?;
    let endpoint = Endpoint { authority: setup.authority, ..Endpoint::from(setup.address) };
    let mix = Mix::new(&setup.requests, &endpoint).map_err(|error| error.to_string())?;
    let options = Options {
        connections: setup.connections.get(),
        reuse: setup.reuse,
        threads: setup.threads.get(),
        cpus,
        timeout: setup.timeout,
        stop,
        ..Options::new(endpoint, mix)
    };
    Engine::start(&options).map_err(sentence)
}

/// Passes asks on until the stream ends, which stops the engine.
fn listen(stream: &TcpStream, asks: SyncSender<EngineVerb>, stop: &AtomicBool) {
    loop {
        match frame::read(stream) {
            Ok(EngineAsk::Stop) => stop.store(true, Ordering::Relaxed),
            Ok(EngineAsk::Do(verb)) => {
                if asks.try_send(verb).is_err() {
                    tracing::warn!("a conversation was ended: it asked again before it was answered");
                    break;
                }
            }
            Err(FrameError::Ended) => break,
            Err(error) => {
                tracing::warn!("a conversation was ended: {error}");
                break;
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
}

/// Does what is asked until nobody asks any more.
fn obey(stream: &TcpStream, mut engine: Engine, inbox: &Receiver<EngineVerb>) -> Result<(), FrameError> {
    let mut under_way = false;
    for verb in inbox {
        match verb {
            EngineVerb::Finish if under_way => {
                under_way = false;
                answer(stream, recorded(engine.finish()))?;
            }
            EngineVerb::Finish => answer(stream, Err::<(), _>("no slice is under way".to_owned()))?,
            _ if under_way => {
                answer(stream, Err::<(), _>("a slice is under way: finish it first".to_owned()))?;
            }
            EngineVerb::Prepare => answer(stream, engine.prepare().map_err(sentence))?,
            EngineVerb::Begin(slice) => {
                let begun = begin(&mut engine, slice);
                under_way = begun.is_ok();
                answer(stream, begun)?;
            }
            EngineVerb::Drive(slice) => answer(stream, drive(&mut engine, slice))?,
        }
    }
    Ok(())
}

fn begin(engine: &mut Engine, slice: SliceSpec) -> Answer<()> {
    check_slice(&slice)?;
    engine.begin(slice, Engine::next_start()).map_err(sentence)
}

fn drive(engine: &mut Engine, slice: SliceSpec) -> Answer<Recorded> {
    check_slice(&slice)?;
    recorded(engine.drive(slice))
}

fn recorded(record: Result<Record, EngineError>) -> Answer<Recorded> {
    record.map(Recorded).map_err(sentence)
}

fn sentence(error: EngineError) -> String {
    error.to_string()
}

fn check_cpus(cpus: &[usize]) -> Answer<()> {
    let allowed =
        sched_getaffinity(None).map_err(|error| format!("can't tell which CPUs it may use: {error}"))?;
    match cpus.iter().find(|cpu| **cpu >= CpuSet::MAX_CPU || !allowed.is_set(**cpu)) {
        Some(cpu) => Err(format!("it may not use CPU {cpu}: let it choose, or give it that CPU")),
        None => Ok(()),
    }
}

fn check_slice(slice: &SliceSpec) -> Answer<()> {
    check_length("slice", slice.duration)?;
    check_length("offset of a slice", slice.offset)?;
    check_length("think time", slice.load.think().map_or(Duration::ZERO, |think| think.mean))
}

/// What the engine adds to its clock must not run over.
fn check_length(what: &str, length: Duration) -> Answer<()> {
    if length <= LONGEST { Ok(()) } else { Err(format!("a {what} of {length:?} is longer than a day")) }
}
