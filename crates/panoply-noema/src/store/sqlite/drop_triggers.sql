DROP TRIGGER card_added;
DROP TRIGGER card_removed;
DROP TRIGGER card_left_lane;
DROP TRIGGER card_came_to_lane;
DROP TRIGGER card_left;
DROP TRIGGER card_came;
DROP TRIGGER review_added;
DROP TRIGGER review_removed;
