-- One row for what holds for the whole history.
CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE entries (
    -- AUTOINCREMENT: the number of an entry that was taken away is not given again.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    content TEXT NOT NULL UNIQUE,
    measured REAL NOT NULL,
    -- Time of the commit, or else of the measurement: the order of points.
    at_time REAL NOT NULL,
    commit_id TEXT,
    commit_time REAL,
    branch TEXT NOT NULL,
    dirty INTEGER NOT NULL,
    tags TEXT NOT NULL,
    facts TEXT NOT NULL,
    fingerprint TEXT NOT NULL
) STRICT;
CREATE INDEX entries_in_time ON entries (at_time, id);
CREATE INDEX entries_of_group ON entries (branch, fingerprint, at_time);

-- Whole records, zlib-compressed.
CREATE TABLE documents (
    entry INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    size INTEGER NOT NULL,
    document BLOB NOT NULL
) STRICT;

CREATE TABLE series (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Everything below up to `branch`, hashed: one column to look it up by.
    key TEXT NOT NULL UNIQUE,
    benchmark TEXT NOT NULL,
    metric TEXT NOT NULL,
    unit TEXT NOT NULL,
    higher INTEGER NOT NULL,
    parameters TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    branch TEXT NOT NULL,
    main INTEGER NOT NULL,
    exact INTEGER NOT NULL
) STRICT;

-- The points of an entry in one row, sorted by series: 28 bytes each, little-endian, of which 8 are the number of
-- the series, 8 the value, 8 its error (NaN: not known) and 4 the number of runs. An entry of a thousand benchmarks
-- is added in milliseconds, and what many series need is read as fast as the disk gives it.
CREATE TABLE points (
    entry INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    count INTEGER NOT NULL,
    packed BLOB NOT NULL
) STRICT;

CREATE TABLE changes (
    series INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
    last_before INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
    level_before REAL NOT NULL,
    level_after REAL NOT NULL,
    ratio REAL NOT NULL,
    ratio_low REAL NOT NULL,
    ratio_high REAL NOT NULL,
    confirmed INTEGER NOT NULL,
    seen_entry INTEGER NOT NULL,
    seen_time REAL NOT NULL,
    PRIMARY KEY (series, entry)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_at_entry ON changes (entry);
CREATE INDEX changes_behind_entry ON changes (last_before);

-- Apart from the changes, so that a decision outlives a change that is not reported for a while.
CREATE TABLE reviews (
    series INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
    -- Null: acknowledged; otherwise why it was dismissed.
    dismissed TEXT,
    author TEXT NOT NULL,
    decided REAL NOT NULL,
    PRIMARY KEY (series, entry)
) STRICT, WITHOUT ROWID;
CREATE INDEX reviews_at_entry ON reviews (entry);

CREATE TABLE detectors (
    series INTEGER PRIMARY KEY REFERENCES series (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    state BLOB NOT NULL
) STRICT;
