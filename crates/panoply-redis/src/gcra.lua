-- GCRA for one key, by the clock of the server. A bucket of `window / interval` calls that refills
-- evenly. The value is the theoretical arrival time (TAT): the time at which the bucket is full.
-- All arguments and results are microseconds, exact as doubles until the year 2255.
--   interval   time in which one call is refilled
--   window     time in which the whole bucket is refilled
--   known      the least debt (TAT - now) that the replica knows of; more than ours after a loss of data
--   owed       debt of calls that the replica admitted without us
-- Returns the time to wait (0: admitted) and the debt now.
local interval, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local known, owed = tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local tat = tonumber(redis.call('GET', KEYS[1]) or '0')
tat = math.min(math.max(tat, now + known) + owed, now + window)
local wait = tat + interval - now - window
if wait <= 0 then
  tat, wait = tat + interval, 0
elseif owed == 0 then
  return {wait, tat - now}
end
redis.call('SET', KEYS[1], string.format('%.0f', tat), 'PX', math.ceil((tat - now) / 1000) + 1)
return {wait, tat - now}
