-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Sunseal's link layer for Wireshark, on link type USER0 (147): docs/reference/link.md.
--   wireshark -X lua_script:sunseal.lua air.pcap

local sunseal = Proto("sunseal", "Sunseal link layer")

local kinds = {
  [1] = "HELLO", [2] = "CHALLENGE", [3] = "RESPONSE", [4] = "REPORT",
  [5] = "VERDICT", [6] = "IDLE", [7] = "ENROL", [8] = "WAKE",
}
local suites = {
  [1] = "ecdsa-p256-sha256", [2] = "ecdsa-secp160r1-sha1", [3] = "ecdsa-secp160r1-sha256",
}
local verdicts = {
  [0] = "accepted", [1] = "unknown-node", [2] = "bad-signature", [3] = "replayed-counter",
  [4] = "stale-challenge", [5] = "scalar-out-of-range", [6] = "key-off-curve",
  [7] = "malformed", [8] = "wrong-suite", [9] = "not-open",
}
local reasons = { [0] = "boot", [1] = "ready", [2] = "low" }
local key_bytes = { [1] = 64, [2] = 40, [3] = 40 }
local full_fragment_bytes = 56

local f = {
  version = ProtoField.uint8("sunseal.version", "Pseudo header version"),
  direction = ProtoField.uint8("sunseal.direction", "Direction", base.DEC, { [0] = "heard", [1] = "sent" }),
  rssi = ProtoField.int8("sunseal.rssi_dbm", "RSSI (dBm)"),
  lqi = ProtoField.uint8("sunseal.lqi", "LQI"),
  crc_ok = ProtoField.bool("sunseal.crc_ok", "CRC good"),
  length = ProtoField.uint8("sunseal.length", "Length byte"),
  dst = ProtoField.uint8("sunseal.dst", "Destination", base.HEX),
  src = ProtoField.uint8("sunseal.src", "Source", base.HEX),
  kind = ProtoField.uint8("sunseal.kind", "Kind", base.DEC, kinds),
  seq = ProtoField.uint8("sunseal.seq", "Sequence number"),
  index = ProtoField.uint8("sunseal.index", "Fragment index", base.DEC, nil, 0xf0),
  count = ProtoField.uint8("sunseal.count_less_one", "Fragment count less one", base.DEC, nil, 0x0f),
  fragment = ProtoField.bytes("sunseal.fragment", "Fragment"),
  node_id = ProtoField.bytes("sunseal.node_id", "Node"),
  counter = ProtoField.uint32("sunseal.counter", "Counter"),
  vcap = ProtoField.uint16("sunseal.vcap_mv", "Storage voltage (mV)"),
  reason = ProtoField.uint8("sunseal.reason", "Reason", base.DEC, reasons, 0x7f),
  listen = ProtoField.uint16("sunseal.listen_ms", "Listens every (ms)"),
  left = ProtoField.uint16("sunseal.left_ms", "Gateway listens after (ms)"),
  challenge_id = ProtoField.uint32("sunseal.challenge_id", "Challenge"),
  nonce = ProtoField.bytes("sunseal.nonce", "Nonce"),
  suite = ProtoField.uint8("sunseal.suite", "Suite", base.DEC, suites),
  data_len = ProtoField.uint8("sunseal.data_len", "Data length"),
  data = ProtoField.bytes("sunseal.data", "Data"),
  public_key = ProtoField.bytes("sunseal.public_key", "Public key x || y"),
  signature = ProtoField.bytes("sunseal.signature", "Signature r || s"),
  reference = ProtoField.uint32("sunseal.reference", "Reference"),
  verdict = ProtoField.uint8("sunseal.verdict", "Verdict", base.DEC, verdicts),
}
sunseal.fields = f

local malformed = ProtoExpert.new("sunseal.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
sunseal.experts = { malformed }

-- Unfinished messages of the first pass, and the bodies found, by packet number.
local unfinished, bodies = {}, {}

function sunseal.init()
  unfinished, bodies = {}, {}
end

-- Returns the whole body once its last missing fragment is here.
local function reassemble(number, key, index, count, fragment)
  if bodies[number] ~= nil then return bodies[number] end
  local message = unfinished[key] or {}
  message[index] = fragment:bytes()
  unfinished[key] = message
  local whole = ByteArray.new()
  for i = 0, count - 1 do
    if message[i] == nil then return nil end
    whole:append(message[i])
  end
  unfinished[key] = nil
  bodies[number] = whole
  return whole
end

local function body_fields(kind, body, tree)
  local at, size = 0, body:len()
  local values = {}
  local function take(field, count)
    if at + count > size then error("short") end
    local range = body(at, count)
    tree:add(field, range)
    at = at + count
    return range
  end
  local function key_of(suite)
    local bytes = key_bytes[suite]
    if bytes == nil then error("suite") end
    return bytes
  end
  take(f.node_id, 8)
  if kind == 1 then
    values.counter = take(f.counter, 4):uint()
    values.vcap_mv = take(f.vcap, 2):uint()
    local reason = take(f.reason, 1):uint()
    values.reason = reasons[reason % 128]
    if reason >= 128 then values.listen_ms = take(f.listen, 2):uint() end
  elseif kind == 2 or kind == 8 then
    values.challenge = take(f.challenge_id, 4):uint()
    take(f.nonce, 16)
    if kind == 8 then values.left_ms = take(f.left, 2):uint() end
  elseif kind == 3 then
    values.challenge = take(f.challenge_id, 4):uint()
    values.counter = take(f.counter, 4):uint()
    values.suite = suites[take(f.suite, 1):uint()]
    take(f.signature, size - at)
  elseif kind == 4 then
    values.counter = take(f.counter, 4):uint()
    values.suite = suites[take(f.suite, 1):uint()]
    local count = take(f.data_len, 1):uint()
    if count > 0 then take(f.data, count) end
    take(f.signature, size - at)
  elseif kind == 5 then
    values.counter = take(f.reference, 4):uint()
    values.verdict = verdicts[take(f.verdict, 1):uint()]
  elseif kind == 7 then
    local suite = take(f.suite, 1):uint()
    values.suite = suites[suite]
    take(f.public_key, key_of(suite))
    take(f.signature, size - at)
  end
  if at ~= size then error("long") end
  return values
end

function sunseal.dissector(buffer, pinfo, root)
  pinfo.cols.protocol = "Sunseal"
  local tree = root:add(sunseal, buffer())
  if buffer:len() < 14 then
    tree:add_proto_expert_info(malformed, "shorter than pseudo header, length byte and frame header")
    return
  end
  tree:add(f.version, buffer(0, 1))
  tree:add(f.direction, buffer(1, 1))
  tree:add(f.rssi, buffer(2, 1))
  tree:add(f.lqi, buffer(3, 1))
  tree:add(f.crc_ok, buffer(4, 1))
  tree:add(f.length, buffer(8, 1))
  if buffer(8, 1):uint() ~= buffer:len() - 9 then
    tree:add_proto_expert_info(malformed, "the length byte does not fit the packet")
  end
  local dst, src = buffer(9, 1):uint(), buffer(10, 1):uint()
  local kind, seq = buffer(11, 1):uint(), buffer(12, 1):uint()
  local frag = buffer(13, 1):uint()
  local index, count = math.floor(frag / 16), frag % 16 + 1
  tree:add(f.dst, buffer(9, 1))
  tree:add(f.src, buffer(10, 1))
  tree:add(f.kind, buffer(11, 1))
  tree:add(f.seq, buffer(12, 1))
  tree:add(f.index, buffer(13, 1))
  tree:add(f.count, buffer(13, 1))
  pinfo.cols.src = string.format("%02x", src)
  pinfo.cols.dst = string.format("%02x", dst)
  local info = kinds[kind] or ("kind " .. kind)
  if count > 1 then info = string.format("%s %d/%d", info, index + 1, count) end
  pinfo.cols.info = info
  if buffer:len() == 14 or index >= count then
    tree:add_proto_expert_info(malformed, "no fragment, or its index is beyond the count")
    return
  end
  local fragment = buffer(14)
  tree:add(f.fragment, fragment)
  if index + 1 < count and fragment:len() ~= full_fragment_bytes then
    tree:add_proto_expert_info(malformed, "only the last fragment may be shorter than 56 bytes")
  end
  -- A frame whose CRC failed is no part of a message.
  if buffer(4, 1):uint() ~= 1 or kinds[kind] == nil then return end

  local key = string.format("%d/%d/%d/%d/%d", dst, src, kind, seq, count)
  local body = reassemble(pinfo.number, key, index, count, fragment)
  if body == nil then return end
  local whole = body:tvb("Body")
  local branch = tree:add(sunseal, whole(), kinds[kind] .. " body")
  local fine, values = pcall(body_fields, kind, whole, branch)
  if not fine then
    branch:add_proto_expert_info(malformed, "the body has not the size of its kind")
    return
  end
  for _, name in ipairs({ "challenge", "counter", "vcap_mv", "reason", "listen_ms", "left_ms", "suite", "verdict" }) do
    if values[name] ~= nil then info = info .. " " .. name .. "=" .. tostring(values[name]) end
  end
  pinfo.cols.info = info
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, sunseal)
