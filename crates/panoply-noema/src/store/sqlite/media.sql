-- Media files: the row of a file can be undone and deleted softly, its content is stored once.
CREATE TABLE media_content (id INTEGER PRIMARY KEY, added INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
CREATE TABLE media_file (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, content INTEGER NOT NULL, added INTEGER NOT NULL,
    deleted INTEGER, batch INTEGER
) STRICT;
CREATE UNIQUE INDEX media_file_by_name ON media_file (name) WHERE deleted IS NULL;
INSERT INTO media_content SELECT row_number() OVER (ORDER BY name), 0, bytes FROM media;
INSERT INTO media_file SELECT row_number() OVER (ORDER BY name), name, row_number() OVER (ORDER BY name), 0, NULL, batch FROM media;
DROP TABLE media;
