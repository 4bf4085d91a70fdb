-- wrk -s requests.lua URL -- KIND FIRST DEVICES [STATE STATE]; each request is about other devices than the one before.
local bulk = 1000
local kind, n, devices, states, headers

function init(args)
  kind, n, devices = args[1], tonumber(args[2]), tonumber(args[3])
  states = { args[4], args[5] }
  headers = { ["Content-Type"] = "application/json" }
  for name, value in pairs(wrk.headers) do headers[name] = value end
end

local function id(number)
  return string.format("00000000-0000-4000-8000-%012x", number)
end

local function item(number, lap)
  return string.format('{"id":"%s","state":"%s"}', id(number), states[1 + lap % 2])
end

local written = {}

local function items(first, lap)
  local key = first .. states[1 + lap % 2]
  if not written[key] then
    local all = {}
    for number = first, first + bulk - 1 do all[#all + 1] = item(number, lap) end
    written[key] = '{"devices":[' .. table.concat(all, ",") .. "]}"
  end
  return written[key]
end

-- What was moved to one state in one lap is moved to the other in the next: every request changes something.
function request()
  n = n + 1
  if kind == "list" then return wrk.format("GET", wrk.path .. "/device") end
  if kind == "one" then return wrk.format("GET", wrk.path .. "/device/" .. id(n * 7919 % devices)) end
  local size = kind == "bulk" and bulk or 1
  local slices = devices / size
  local first, lap = n % slices * size, math.floor(n / slices)
  local body = kind == "bulk" and items(first, lap) or '{"devices":[' .. item(first, lap) .. "]}"
  return wrk.format("POST", wrk.path .. "/device/state", headers, body)
end
