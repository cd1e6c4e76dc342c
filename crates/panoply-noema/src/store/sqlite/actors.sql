-- Whose action it was: an agent undoes its own changes only.
ALTER TABLE action ADD COLUMN actor TEXT NOT NULL DEFAULT 'local';
