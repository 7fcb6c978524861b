-- Who may do what with the history over HTTP. Of a token only the SHA-256 is kept. A row stays after it was revoked.
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE,
    -- Words of `Right`, with commas between them.
    rights TEXT NOT NULL,
    made REAL NOT NULL,
    revoked REAL
) STRICT;
