-- Notes that a replica is alive and counts those seen within a time, by the clock of the server.
--   ARGV: id of the replica; how long it counts, in microseconds; 0 takes it off the list
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local life = tonumber(ARGV[2])
if life == 0 then
  redis.call('ZREM', KEYS[1], ARGV[1])
  return redis.call('ZCARD', KEYS[1])
end
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('(%.0f', now - life))
redis.call('PEXPIRE', KEYS[1], math.ceil(life / 1000))
return redis.call('ZCARD', KEYS[1])
