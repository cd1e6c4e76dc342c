-- Reports of evaluations, named after what is in them. They can be made again, so a file that is
-- lost is no harm. `ran` grows with every run;
-- `summary` and `change` are JSON, `bytes` is how much room a report takes.
CREATE TABLE report (
  id TEXT PRIMARY KEY,
  set_name TEXT NOT NULL,
  ran INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  json TEXT NOT NULL,
  markdown TEXT NOT NULL,
  summary TEXT NOT NULL,
  change TEXT NOT NULL
) STRICT;
CREATE INDEX report_of_set ON report (set_name, ran);
