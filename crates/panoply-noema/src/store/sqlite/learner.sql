-- Settings of the learner as JSON; the only row has id 1.
CREATE TABLE learner (id INTEGER PRIMARY KEY, settings TEXT NOT NULL) STRICT;
