CREATE TRIGGER card_added AFTER INSERT ON card WHEN NEW.deleted IS NULL BEGIN
    INSERT INTO lane_count (deck, hold, phase, cards) VALUES (NEW.deck, NEW.hold, NEW.phase, 1)
        ON CONFLICT DO UPDATE SET cards = cards + 1;
    INSERT INTO due_count (deck, hold, phase, bucket, cards)
        VALUES (NEW.deck, NEW.hold, NEW.phase, iif(NEW.phase = 0, 0, NEW.due / 900000000), 1)
        ON CONFLICT DO UPDATE SET cards = cards + 1;
END;
CREATE TRIGGER card_removed AFTER DELETE ON card WHEN OLD.deleted IS NULL BEGIN
    UPDATE lane_count SET cards = cards - 1
        WHERE deck = OLD.deck AND hold = OLD.hold AND phase = OLD.phase;
    UPDATE due_count SET cards = cards - 1
        WHERE deck = OLD.deck AND hold = OLD.hold AND phase = OLD.phase
          AND bucket = iif(OLD.phase = 0, 0, OLD.due / 900000000);
    DELETE FROM due_count
        WHERE deck = OLD.deck AND hold = OLD.hold AND phase = OLD.phase
          AND bucket = iif(OLD.phase = 0, 0, OLD.due / 900000000) AND cards <= 0;
END;
-- Most answers leave a card in its lane, and then its count is not written.
CREATE TRIGGER card_left_lane AFTER UPDATE OF deck, hold, phase, deleted ON card WHEN OLD.deleted IS NULL
    AND (NEW.deleted IS NOT NULL OR (OLD.deck, OLD.hold, OLD.phase) <> (NEW.deck, NEW.hold, NEW.phase)) BEGIN
    UPDATE lane_count SET cards = cards - 1
        WHERE deck = OLD.deck AND hold = OLD.hold AND phase = OLD.phase;
END;
CREATE TRIGGER card_came_to_lane AFTER UPDATE OF deck, hold, phase, deleted ON card WHEN NEW.deleted IS NULL
    AND (OLD.deleted IS NOT NULL OR (OLD.deck, OLD.hold, OLD.phase) <> (NEW.deck, NEW.hold, NEW.phase)) BEGIN
    INSERT INTO lane_count (deck, hold, phase, cards) VALUES (NEW.deck, NEW.hold, NEW.phase, 1)
        ON CONFLICT DO UPDATE SET cards = cards + 1;
END;
CREATE TRIGGER card_left AFTER UPDATE OF deck, hold, phase, due, deleted ON card WHEN OLD.deleted IS NULL BEGIN
    UPDATE due_count SET cards = cards - 1
        WHERE deck = OLD.deck AND hold = OLD.hold AND phase = OLD.phase
          AND bucket = iif(OLD.phase = 0, 0, OLD.due / 900000000);
    DELETE FROM due_count
        WHERE deck = OLD.deck AND hold = OLD.hold AND phase = OLD.phase
          AND bucket = iif(OLD.phase = 0, 0, OLD.due / 900000000) AND cards <= 0;
END;
CREATE TRIGGER card_came AFTER UPDATE OF deck, hold, phase, due, deleted ON card WHEN NEW.deleted IS NULL BEGIN
    INSERT INTO due_count (deck, hold, phase, bucket, cards)
        VALUES (NEW.deck, NEW.hold, NEW.phase, iif(NEW.phase = 0, 0, NEW.due / 900000000), 1)
        ON CONFLICT DO UPDATE SET cards = cards + 1;
END;
-- What was answered, by quarter of an hour. Kinds 1 and 3 are cards in review; 21 days make them mature.
CREATE TRIGGER review_added AFTER INSERT ON review WHEN NEW.rating > 0 BEGIN
    INSERT INTO quarter_hour (id, answers, passed, taken_ms, again, hard, good, easy,
        young, young_passed, mature, mature_passed, introduced)
    VALUES (NEW.id / 900000, 1, NEW.rating > 1, NEW.taken_ms,
        NEW.rating = 1, NEW.rating = 2, NEW.rating = 3, NEW.rating = 4,
        NEW.kind IN (1, 3) AND NEW.last_interval < 21, NEW.kind IN (1, 3) AND NEW.last_interval < 21 AND NEW.rating > 1,
        NEW.kind IN (1, 3) AND NEW.last_interval >= 21, NEW.kind IN (1, 3) AND NEW.last_interval >= 21 AND NEW.rating > 1,
        NEW.kind = 0 AND NEW.last_interval = 0
            AND NOT EXISTS (SELECT 1 FROM review WHERE card = NEW.card AND rating > 0 AND id < NEW.id))
    ON CONFLICT DO UPDATE SET answers = answers + 1, passed = passed + excluded.passed,
        taken_ms = taken_ms + excluded.taken_ms, again = again + excluded.again, hard = hard + excluded.hard,
        good = good + excluded.good, easy = easy + excluded.easy, young = young + excluded.young,
        young_passed = young_passed + excluded.young_passed, mature = mature + excluded.mature,
        mature_passed = mature_passed + excluded.mature_passed, introduced = introduced + excluded.introduced;
END;
CREATE TRIGGER review_removed AFTER DELETE ON review WHEN OLD.rating > 0 BEGIN
    UPDATE quarter_hour SET answers = answers - 1, passed = passed - (OLD.rating > 1),
        taken_ms = taken_ms - OLD.taken_ms, again = again - (OLD.rating = 1), hard = hard - (OLD.rating = 2),
        good = good - (OLD.rating = 3), easy = easy - (OLD.rating = 4),
        young = young - (OLD.kind IN (1, 3) AND OLD.last_interval < 21),
        young_passed = young_passed - (OLD.kind IN (1, 3) AND OLD.last_interval < 21 AND OLD.rating > 1),
        mature = mature - (OLD.kind IN (1, 3) AND OLD.last_interval >= 21),
        mature_passed = mature_passed - (OLD.kind IN (1, 3) AND OLD.last_interval >= 21 AND OLD.rating > 1),
        introduced = introduced - (OLD.kind = 0 AND OLD.last_interval = 0
            AND NOT EXISTS (SELECT 1 FROM review WHERE card = OLD.card AND rating > 0 AND id < OLD.id))
    WHERE id = OLD.id / 900000;
END;
