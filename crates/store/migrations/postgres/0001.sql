-- One row for what holds for the whole history.
CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE entries (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    content TEXT NOT NULL UNIQUE,
    measured DOUBLE PRECISION NOT NULL,
    -- Time of the commit, or else of the measurement: the order of points.
    at_time DOUBLE PRECISION NOT NULL,
    commit_id TEXT,
    commit_time DOUBLE PRECISION,
    branch TEXT NOT NULL,
    dirty BIGINT NOT NULL,
    tags TEXT NOT NULL,
    facts TEXT NOT NULL,
    fingerprint TEXT NOT NULL
);
CREATE INDEX entries_in_time ON entries (at_time, id);
CREATE INDEX entries_of_group ON entries (branch, fingerprint, at_time);

-- Whole records, zlib-compressed.
CREATE TABLE documents (
    entry BIGINT PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    size BIGINT NOT NULL,
    document BYTEA NOT NULL
);
-- They are compressed already.
ALTER TABLE documents ALTER COLUMN document SET STORAGE EXTERNAL;

CREATE TABLE series (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Everything below up to `branch`, hashed: one column to look it up by.
    key TEXT NOT NULL UNIQUE,
    benchmark TEXT NOT NULL,
    metric TEXT NOT NULL,
    unit TEXT NOT NULL,
    higher BIGINT NOT NULL,
    parameters TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    branch TEXT NOT NULL,
    main BIGINT NOT NULL,
    exact BIGINT NOT NULL
);

-- The points of an entry in one row, sorted by series: 28 bytes each, little-endian, of which 8 are the number of
-- the series, 8 the value, 8 its error (NaN: not known) and 4 the number of runs. An entry of a thousand benchmarks
-- is added in milliseconds, and what many series need is read as fast as the disk gives it.
CREATE TABLE points (
    entry BIGINT PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    count BIGINT NOT NULL,
    packed BYTEA NOT NULL
);
-- Compressing them would save little and cost more than reading them.
ALTER TABLE points ALTER COLUMN packed SET STORAGE EXTERNAL;

CREATE TABLE changes (
    series BIGINT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    entry BIGINT NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
    last_before BIGINT NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
    level_before DOUBLE PRECISION NOT NULL,
    level_after DOUBLE PRECISION NOT NULL,
    ratio DOUBLE PRECISION NOT NULL,
    ratio_low DOUBLE PRECISION NOT NULL,
    ratio_high DOUBLE PRECISION NOT NULL,
    confirmed BIGINT NOT NULL,
    seen_entry BIGINT NOT NULL,
    seen_time DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (series, entry)
);
CREATE INDEX changes_at_entry ON changes (entry);
CREATE INDEX changes_behind_entry ON changes (last_before);

-- Apart from the changes, so that a decision outlives a change that is not reported for a while.
CREATE TABLE reviews (
    series BIGINT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    entry BIGINT NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
    -- Null: acknowledged; otherwise why it was dismissed.
    dismissed TEXT,
    author TEXT NOT NULL,
    decided DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (series, entry)
);
CREATE INDEX reviews_at_entry ON reviews (entry);

CREATE TABLE detectors (
    series BIGINT PRIMARY KEY REFERENCES series (id) ON DELETE CASCADE,
    version BIGINT NOT NULL,
    state BYTEA NOT NULL
);
