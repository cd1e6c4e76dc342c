CREATE TRIGGER card_added AFTER INSERT ON card WHEN NEW.deleted IS NULL BEGIN
    INSERT INTO lane_count VALUES (NEW.deck, NEW.hold, NEW.phase, 1)
        ON CONFLICT DO UPDATE SET cards = cards + 1;
    INSERT INTO due_count VALUES (NEW.deck, NEW.hold, NEW.phase, iif(NEW.phase = 0, 0, NEW.due / 900000000), 1)
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
CREATE TRIGGER card_left AFTER UPDATE OF deck, hold, phase, due, deleted ON card WHEN OLD.deleted IS NULL BEGIN
    UPDATE lane_count SET cards = cards - 1
        WHERE deck = OLD.deck AND hold = OLD.hold AND phase = OLD.phase;
    UPDATE due_count SET cards = cards - 1
        WHERE deck = OLD.deck AND hold = OLD.hold AND phase = OLD.phase
          AND bucket = iif(OLD.phase = 0, 0, OLD.due / 900000000);
    DELETE FROM due_count
        WHERE deck = OLD.deck AND hold = OLD.hold AND phase = OLD.phase
          AND bucket = iif(OLD.phase = 0, 0, OLD.due / 900000000) AND cards <= 0;
END;
CREATE TRIGGER card_came AFTER UPDATE OF deck, hold, phase, due, deleted ON card WHEN NEW.deleted IS NULL BEGIN
    INSERT INTO lane_count VALUES (NEW.deck, NEW.hold, NEW.phase, 1)
        ON CONFLICT DO UPDATE SET cards = cards + 1;
    INSERT INTO due_count VALUES (NEW.deck, NEW.hold, NEW.phase, iif(NEW.phase = 0, 0, NEW.due / 900000000), 1)
        ON CONFLICT DO UPDATE SET cards = cards + 1;
END;
