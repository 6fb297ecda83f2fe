"""Expressions of keys that several benchmarks share; i is the row's number."""

# uuids of version 4 (all bits random), and of version 7: of millisecond %s
# since the year 2025.
V4 = "md5(i::text)::uuid"
V7 = ("(lpad(to_hex(1735689600000 + (%s)::int8), 12, '0') || '7' || "
      "substr(md5(i::text), 1, 3) || 'b' || "
      "substr(md5(i::text), 4, 15))::uuid")

# Eight rows a millisecond, and a row in eight seconds.
V7_BURST = V7 % "i / 8"
V7_SLOW = V7 % "i::int8 * 8000"
