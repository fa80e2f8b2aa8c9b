// The checksum of a batch: CRC-32C (Castagnoli). Eight bytes in one step need a third of the time of
// kafkajs's, which was a fourteenth of a stage's CPU time.

const polynomial = 0x82f63b78 // reflected

/** Table `k` has the checksum of each byte with `k` zero bytes after it. */
const tables = new Uint32Array(8 * 256)
for (let byte = 0; byte < 256; byte += 1) {
  let crc = byte
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1
  tables[byte] = crc
}
for (let at = 256; at < tables.length; at += 1) {
  const before = entry(at - 256)
  tables[at] = (before >>> 8) ^ entry(before & 0xff)
}

function entry(at: number): number {
  return tables[at] as number
}

export function crc32c(bytes: Uint8Array): number {
  let crc = -1
  let at = 0
  const byte = (n: number): number => bytes[n] as number
  for (const end = bytes.length - 7; at < end; at += 8) {
    const low = crc ^ (byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16) | (byte(at + 3) << 24))
    crc =
      entry(1792 + (low & 0xff)) ^
      entry(1536 + ((low >>> 8) & 0xff)) ^
      entry(1280 + ((low >>> 16) & 0xff)) ^
      entry(1024 + (low >>> 24)) ^
      entry(768 + byte(at + 4)) ^
      entry(512 + byte(at + 5)) ^
      entry(256 + byte(at + 6)) ^
      entry(byte(at + 7))
  }
  for (; at < bytes.length; at += 1) crc = (crc >>> 8) ^ entry((crc ^ byte(at)) & 0xff)
  return (crc ^ -1) >>> 0
}
