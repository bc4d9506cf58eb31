-- wrk: requests of a file in random order, and the result as JSON. A line is a path, and after a tab the body of a POST.
-- Arguments after `--`: the file, and the seed.

local requests = {}

function init(arguments)
  for line in io.lines(arguments[1]) do
    local path, body = line:match("^([^\t]+)\t?(.*)$")
    local headers = {["Content-Type"] = "application/json"}
    if body == "" then
      requests[#requests + 1] = wrk.format("GET", path)
    else
      requests[#requests + 1] = wrk.format("POST", path, headers, body)
    end
  end
  math.randomseed(tonumber(arguments[2]))
end

function request()
  return requests[math.random(#requests)]
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
