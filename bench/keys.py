"""Expressions of keys that several benchmarks share; i is the row's number."""



def v4(digits):
    """uuids of version 4, of 32 hexadecimal digits: all other bits are these"""
    return ("overlay(overlay(%s placing '4' from 13) placing translate(substr("
            "%s, 17, 1), '01234567cdef', '89ab89ab89ab') from 17)::uuid" %
            (digits, digits))


# uuids of version 4, and of version 7: of millisecond %s since the year 2025.
V4 = v4("md5(i::text)")
V7 = ("(lpad(to_hex(1735689600000 + (%s)::int8), 12, '0') || '7' || "
      "substr(md5(i::text), 1, 3) || 'b' || "
      "substr(md5(i::text), 4, 15))::uuid")

# Eight rows a millisecond, and a row in eight seconds.
V7_BURST = V7 % "i / 8"
V7_SLOW = V7 % "i::int8 * 8000"
