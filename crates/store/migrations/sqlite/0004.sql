-- Of the commit: the name of its author, and the first line of its message. NULL where nobody knew.
ALTER TABLE entries ADD COLUMN author TEXT;
ALTER TABLE entries ADD COLUMN title TEXT;
