-- Who may do what with the history over HTTP. Of a token only the SHA-256 is kept. A row stays after it was revoked.
CREATE TABLE tokens (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE,
    -- Words of `Right`, with commas between them.
    rights TEXT NOT NULL,
    made DOUBLE PRECISION NOT NULL,
    revoked DOUBLE PRECISION
);
