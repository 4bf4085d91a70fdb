-- Another selection with every request: one of 864 versions, and a parameter that is never twice the same.
local n = 0
request = function()
  n = n + 1
  local version = string.format("%02d.%02d.%03d", 10 + math.floor(n / 144) % 6, 1 + math.floor(n / 12) % 12, 1 + n % 12)
  return wrk.format("GET", string.format("/api/v1/package/?package_type=rpm&min_os_version=&version=%s&strict=%d", version, n + 1))
end
