-- Times of day are RFC 3339; times within a run are seconds since its start; JSON columns hold types of the crate model.

CREATE TABLE run (
    id           INTEGER PRIMARY KEY,
    label        TEXT NOT NULL,       -- names what the run makes on the machine
    name         TEXT NOT NULL,
    started      TEXT NOT NULL,
    finished     TEXT,
    state        TEXT NOT NULL,       -- unfinished, complete, interrupted, failed
    version      TEXT NOT NULL,
    command_line TEXT NOT NULL,       -- JSON list
    experiment   TEXT NOT NULL,       -- JSON
    plan         TEXT NOT NULL,       -- JSON
    machine      TEXT NOT NULL,       -- JSON
    service_cpus TEXT NOT NULL,       -- JSON list
    load_cpus    TEXT NOT NULL,       -- JSON list
    side_by_side TEXT NOT NULL,       -- JSON list of cells measured request by request
    notes        TEXT NOT NULL,       -- JSON list: kind and figures of each
    failures     TEXT NOT NULL,       -- JSON list: site and text of each
    surroundings TEXT NOT NULL DEFAULT '{}', -- JSON: by platform, what kind of daemon or cluster it is
    metrics      TEXT NOT NULL,       -- JSON list: what its probes declare of each metric
    time_spent   TEXT,                -- JSON: where the wall time went
    tags         TEXT NOT NULL DEFAULT '[]' -- JSON list: what its user calls it
) STRICT;

CREATE TABLE deployment (
    run      INTEGER NOT NULL REFERENCES run(id),
    site     INTEGER NOT NULL,
    round    INTEGER NOT NULL,
    at_s     REAL NOT NULL,
    ready_ms REAL NOT NULL,
    left_out TEXT NOT NULL,           -- JSON list of sentences
    startup  TEXT NOT NULL DEFAULT '{}', -- JSON: phases of the start, sizes of image and idle service
    runtime  TEXT NOT NULL DEFAULT '{}', -- JSON: what was found out about the service's language runtime
    PRIMARY KEY (run, site, round)
) STRICT;

CREATE TABLE warm_up (
    run        INTEGER NOT NULL REFERENCES run(id),
    cell       INTEGER NOT NULL,
    round      INTEGER NOT NULL,
    seconds    REAL NOT NULL,
    stationary INTEGER NOT NULL,
    figures    TEXT NOT NULL,         -- JSON list: median service time of each cycle, ns
    PRIMARY KEY (run, cell, round)
) STRICT;

CREATE TABLE slice (
    run              INTEGER NOT NULL REFERENCES run(id),
    cell             INTEGER NOT NULL,
    round            INTEGER NOT NULL,
    block            INTEGER NOT NULL,
    attempt          INTEGER NOT NULL, -- 0, then repeats
    position         INTEGER NOT NULL, -- turn within the block
    at_s             REAL NOT NULL,
    duration_s       REAL NOT NULL,
    due              INTEGER NOT NULL,
    sent_in_time     INTEGER NOT NULL,
    answered         INTEGER NOT NULL,
    answered_in_time INTEGER NOT NULL,
    waited           INTEGER NOT NULL,
    reconnects       INTEGER NOT NULL,
    received_bytes   INTEGER NOT NULL,
    load_cpu_ns      INTEGER NOT NULL,
    errors           TEXT NOT NULL,    -- JSON map: kind to count
    response         BLOB NOT NULL,    -- HdrHistogram V2, ns
    service          BLOB NOT NULL,
    send_lag         BLOB NOT NULL,
    observations     TEXT NOT NULL,    -- JSON
    cpu_use          TEXT,             -- JSON
    gate_failures    TEXT NOT NULL,    -- JSON list: kind and figures of each
    load_spun_ns     INTEGER,          -- part of load_cpu_ns spent waiting awake; unknown of older runs
    load             TEXT NOT NULL DEFAULT '', -- JSON: the load that it was
    by_request       TEXT NOT NULL DEFAULT '[]', -- JSON: response times by request, of a mix of several
    trial            TEXT,             -- JSON: what it was in a search for a capacity
    PRIMARY KEY (run, cell, round, block, attempt)
) STRICT;

CREATE TABLE profile (
    run      INTEGER NOT NULL REFERENCES run(id),
    cell     INTEGER NOT NULL,
    round    INTEGER NOT NULL,
    answered INTEGER NOT NULL,         -- requests while the profiler ran
    profile  TEXT NOT NULL,            -- JSON: samples by layer, folded stacks
    reasons  TEXT,                     -- JSON: why softirqs were raised, where that may be asked
    PRIMARY KEY (run, cell, round)
) STRICT;

CREATE TABLE tail (
    run      INTEGER NOT NULL REFERENCES run(id),
    cell     INTEGER NOT NULL,
    round    INTEGER NOT NULL,
    answered INTEGER NOT NULL,         -- requests while the service was watched
    slowest  TEXT NOT NULL,            -- JSON: the slowest requests, when each was due and how long it took
    timeline TEXT NOT NULL,            -- JSON: when what held the service up
    PRIMARY KEY (run, cell, round)
) STRICT;
