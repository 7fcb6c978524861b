-- Why a change was acknowledged; null if nobody said, and for one that was dismissed, whose reason is in `dismissed`.
ALTER TABLE reviews ADD COLUMN reason TEXT;

-- Rows of `points` that are written from now on have columns instead of 28 bytes for each point; `packed.rs` says which.
-- Those that are there stay as they are, and are read as before.
