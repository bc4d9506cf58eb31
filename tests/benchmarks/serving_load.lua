-- wrk: requests for the paths of a file in random order, and the result as JSON.
-- Arguments after `--`: the file, and the seed.

local paths = {}

function init(arguments)
  for line in io.lines(arguments[1]) do
    paths[#paths + 1] = line
  end
  math.randomseed(tonumber(arguments[2]))
end

function request()
  return wrk.format("GET", paths[math.random(#paths)])
end

function done(summary, latency, requests)
  local errors = summary.errors
  print(string.format(
    'RESULT {"requests": %d, "seconds": %.6f, "failed": %d, "p50_ms": %.3f, "p99_ms": %.3f}',
    summary.requests,
    summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3
  ))
end
