//! A conversation about an engine. One thread listens while the other obeys, so that the end of the stream, or a stop, ends the slice under
//! way.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use loadline_engine::{Endpoint, Engine, EngineError, Load, Options, Record, Replay, SliceSpec};
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
    let replay = match &setup.load.load.load {
        Load::Replay(replay) => Some(replay.clone()),
        _ => None,
    };
    let engine = match start(setup, stop.clone()) {
        Ok(engine) => engine,
        Err(sentence) => return answer(stream, Err::<(), _>(sentence)),
    };
    answer(stream, Ok(describe_machine()))?;
    let (asks, inbox) = sync_channel(1);
    std::thread::scope(|scope| {
        Builder::new().name("listener".to_owned()).spawn_scoped(scope, || listen(stream, asks, &stop))?;
        let result = obey(stream, engine, replay.as_ref(), &inbox);
        // Ends the listener.
        end(stream);
        result
    })
}

/// Starts an engine that is stopped by `stop`, or says why it can't.
fn start(setup: EngineSetup, stop: Arc<AtomicBool>) -> Answer<Engine> {
    let cpus = setup.cpus.unwrap_or_default();
    check_cpus(&cpus)?;
    check_length("time-out", setup.load.load.timeout)?;
    let endpoint = Endpoint { authority: setup.authority, ..Endpoint::from(setup.address) };
    let described = Options::describing(&setup.load, endpoint).map_err(|error| error.to_string())?;
    let options = Options { threads: setup.threads.get(), cpus, stop, ..described };
    Engine::start(&options).map_err(sentence)
}

/// Passes asks on until the stream ends, which stops the engine.
fn listen(stream: &TcpStream, asks: SyncSender<EngineVerb>, stop: &AtomicBool) {
    loop {
        match frame::read(stream) {
            Ok(EngineAsk::Stop) => stop.store(true, Ordering::Relaxed),
            Ok(EngineAsk::Do(verb)) => {
                if asks.try_send(verb).is_err() {
                    tracing::warn!(
                        "connection closed: a request arrived before the previous one was answered"
                    );
                    break;
                }
            }
            Err(FrameError::Ended) => break,
            Err(error) => {
                tracing::warn!("connection closed: {error}");
                break;
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
}

/// Does what is asked until nobody asks any more.
fn obey(
    stream: &TcpStream,
    mut engine: Engine,
    replay: Option<&Replay>,
    inbox: &Receiver<EngineVerb>,
) -> Result<(), FrameError> {
    let mut under_way = false;
    for verb in inbox {
        match verb {
            EngineVerb::Finish if under_way => {
                under_way = false;
                answer(stream, recorded(engine.finish()))?;
            }
            EngineVerb::Finish => answer(stream, Err::<(), _>("no slice is running".to_owned()))?,
            _ if under_way => {
                answer(stream, Err::<(), _>("a slice is still running: finish it first".to_owned()))?;
            }
            EngineVerb::Prepare => answer(stream, engine.prepare().map_err(sentence))?,
            EngineVerb::Begin(slice) => {
                let begun = begin(&mut engine, slice, replay);
                under_way = begun.is_ok();
                answer(stream, begun)?;
            }
            EngineVerb::TryOut => answer(stream, engine.try_out().map_err(sentence))?,
            EngineVerb::Drive(slice) => answer(stream, drive(&mut engine, slice, replay))?,
        }
    }
    Ok(())
}

fn begin(engine: &mut Engine, slice: SliceSpec, replay: Option<&Replay>) -> Answer<()> {
    engine.begin(checked(slice, replay)?, Engine::next_start()).map_err(sentence)
}

fn drive(engine: &mut Engine, slice: SliceSpec, replay: Option<&Replay>) -> Answer<Recorded> {
    recorded(engine.drive(checked(slice, replay)?))
}

fn recorded(record: Result<Record, EngineError>) -> Answer<Recorded> {
    record.map(Recorded).map_err(sentence)
}

fn sentence(error: EngineError) -> String {
    error.to_string()
}

fn check_cpus(cpus: &[usize]) -> Answer<()> {
    let allowed = sched_getaffinity(None)
        .map_err(|error| format!("cannot determine which CPUs it may use: {error}"))?;
    match cpus.iter().find(|cpu| **cpu >= CpuSet::MAX_CPU || !allowed.is_set(**cpu)) {
        Some(cpu) => Err(format!("it may not use CPU {cpu}: let it choose its CPUs, or allow it that one")),
        None => Ok(()),
    }
}

/// The slice, if it can be driven; a replay gets its due times, which came with the setup.
fn checked(mut slice: SliceSpec, replay: Option<&Replay>) -> Answer<SliceSpec> {
    check_length("slice", slice.duration)?;
    check_length("slice offset", slice.offset)?;
    check_length("think time", slice.load.think().map_or(Duration::ZERO, |think| think.mean))?;
    if let Load::Replay(named) = &mut slice.load {
        let known = replay.filter(|known| known.is_of_same_file(named));
        *named = known
            .ok_or_else(|| {
                format!("the due times of the {named} are missing: begin a session with that load")
            })?
            .clone();
    }
    Ok(slice)
}

/// What the engine adds to its clock must not run over.
fn check_length(what: &str, length: Duration) -> Answer<()> {
    if length <= LONGEST { Ok(()) } else { Err(format!("a {what} of {length:?} is longer than a day")) }
}
