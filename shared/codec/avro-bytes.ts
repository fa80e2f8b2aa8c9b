// Avro's primitives as bytes: a writer into one growing scratch buffer and a reader that never
// leaves its record. Owns: numbers, strings, lengths, and every check against the end of the
// record. Does not own: the structure of a record (avro-types.ts). Both have the methods that
// avsc's types call on a "tap". avsc's own tap has three faults. It reads zeros behind the end, so
// a false count of 2^31 is a loop of 2^31. It loses the lowest bit of longs below -2^52. It writes
// half surrogate pairs as bytes that are not UTF-8.
//
// AVRO-BYTES-1. A count or a length beyond the end of the record is refused.
// AVRO-BYTES-2. A number is decoded exactly, or refused.

const scratchBytes = 16 * 1024
/** A larger scratch buffer is released after its message. */
const scratchBytesKept = 1024 * 1024
const varintBytesMax = 10
/**
 * Up to these lengths a loop over the characters beats the call into Node's UTF-8 code (measured on
 * Node 24).
 */
const shortWrite = 20
const shortRead = 8

export class ByteWriter {
  private bytes = Buffer.allocUnsafeSlow(scratchBytes)
  private position = 0

  /** Begins a new message and leaves room for its header. */
  begin(headerBytes: number): void {
    if (this.bytes.length > scratchBytesKept) this.bytes = Buffer.allocUnsafeSlow(scratchBytes)
    this.position = headerBytes
  }

  /** A copy of the bytes written since `begin`, header included. */
  finish(): Buffer {
    const result = Buffer.allocUnsafe(this.position)
    this.bytes.copy(result, 0, 0, this.position)
    return result
  }

  writeBoolean(value: boolean): void {
    this.reserve(1)
    this.bytes[this.position++] = value ? 1 : 0
  }

  writeInt(value: number): void {
    this.writeLong(value)
  }

  /** `value` is a safe integer: the types check that. */
  writeLong(value: number): void {
    this.reserve(varintBytesMax)
    if (value >= -0x40000000 && value < 0x40000000) {
      this.writeVarint((value << 1) ^ (value >> 31))
      return
    }
    // 32-bit operators do not reach. The sign goes to the lowest bit, as in zigzag, without
    // doubling the number past 2^53.
    const isNegative = value < 0
    let rest = isNegative ? -(value + 1) : value
    let byte = ((rest % 64) << 1) | (isNegative ? 1 : 0)
    rest = Math.floor(rest / 64)
    while (rest > 0) {
      this.bytes[this.position++] = byte | 0x80
      byte = rest % 128
      rest = Math.floor(rest / 128)
    }
    this.bytes[this.position++] = byte
  }

  writeDouble(value: number): void {
    this.reserve(8)
    this.position = this.bytes.writeDoubleLE(value, this.position)
  }

  /**
   * A lone surrogate has no UTF-8 form: it is written as U+FFFD, so it does not come back as it
   * was.
   */
  writeString(text: string): void {
    this.reserve(varintBytesMax + text.length * 3)
    if (text.length <= shortWrite && this.wroteAscii(text)) return
    // The length comes first but is known last. Most text is ASCII, so room is left for the length
    // of that; the rest is moved if it was not.
    const start = this.position
    const guess = varintBytes(text.length)
    const length = this.bytes.write(text, start + guess, 'utf8')
    const needed = varintBytes(length)
    if (needed !== guess)
      this.bytes.copyWithin(start + needed, start + guess, start + guess + length)
    this.writeVarint(length << 1)
    this.position = start + needed + length
  }

  writeBytes(bytes: Uint8Array): void {
    this.reserve(varintBytesMax + bytes.length)
    this.writeVarint(bytes.length << 1)
    this.bytes.set(bytes, this.position)
    this.position += bytes.length
  }

  writeFixed(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.position)
    this.position += bytes.length
  }

  /**
   * An already encoded piece, one character a byte: avsc keeps the defaults of fields like this.
   */
  writeBinary(bytes: string): void {
    this.reserve(bytes.length)
    this.position += this.bytes.write(bytes, this.position, 'latin1')
  }

  writeHeader(magic: number, id: number): void {
    this.bytes[0] = magic
    this.bytes.writeInt32BE(id, 1)
  }

  private wroteAscii(text: string): boolean {
    const { bytes } = this
    const start = this.position + 1
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index)
      if (code > 0x7f) return false
      bytes[start + index] = code
    }
    bytes[this.position] = text.length << 1
    this.position = start + text.length
    return true
  }

  /** An unsigned number below 2^32; room is reserved. */
  private writeVarint(value: number): void {
    let rest = value
    while (rest > 0x7f || rest < 0) {
      this.bytes[this.position++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.bytes[this.position++] = rest
  }

  private reserve(count: number): void {
    if (this.position + count > this.bytes.length) this.grow(count)
  }

  private grow(count: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.position + count))
    this.bytes.copy(larger, 0, 0, this.position)
    this.bytes = larger
  }
}

/** The bytes of a length as a zigzag varint. */
function varintBytes(length: number): number {
  if (length < 0x40) return 1
  if (length < 0x2000) return 2
  if (length < 0x100000) return 3
  return length < 0x8000000 ? 4 : 5
}

const noBytes = Buffer.alloc(0)

export class ByteReader {
  private bytes: Buffer = noBytes
  private position = 0
  private end = 0

  begin(bytes: Uint8Array, position: number): void {
    this.bytes = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.position = position
    this.end = bytes.length
  }

  /** Lets go of the record: it may be a slice of a whole fetched batch. */
  finish(): void {
    this.bytes = noBytes
  }

  get remaining(): number {
    return this.end - this.position
  }

  readBoolean(): boolean {
    const byte = this.readByte()
    if (byte > 1) throw new Error(`byte ${this.position - 1} is ${byte}, where a boolean is 0 or 1`)
    return byte === 1
  }

  readInt(): number {
    const start = this.position
    const value = this.readLong()
    if (value !== (value | 0))
      throw new Error(`the int at byte ${start} is ${value}, beyond 32 bits`)
    return value
  }

  readLong(): number {
    const first = this.readByte()
    let value = (first & 0x7f) >>> 1
    if (first > 0x7f) {
      const start = this.position - 1
      let scale = 64
      let byte: number
      do {
        if (this.position - start === varintBytesMax)
          throw new Error(`the number at byte ${start} has more than ${varintBytesMax} bytes`)
        byte = this.readByte()
        value += (byte & 0x7f) * scale
        scale *= 128
      } while (byte > 0x7f)
      if (value > Number.MAX_SAFE_INTEGER)
        throw new Error(
          `the long at byte ${start} is beyond 2^53, which a JavaScript number cannot hold exactly`,
        )
    }
    return first & 1 ? -value - 1 : value
  }

  readDouble(): number {
    return this.bytes.readDoubleLE(this.advance(8, 'a double'))
  }

  readString(): string {
    const length = this.readLong()
    const start = this.advance(length, 'a string')
    if (length > shortRead) return this.bytes.toString('utf8', start, this.position)
    let text = ''
    for (let index = start; index < this.position; index += 1) {
      const byte = this.bytes[index] as number
      if (byte > 0x7f) return this.bytes.toString('utf8', start, this.position)
      text += String.fromCharCode(byte)
    }
    return text
  }

  /**
   * A copy: the record may be a slice of a batch that would stay in memory with it, or that
   * somebody writes over.
   */
  readBytes(): Buffer {
    const length = this.readLong()
    return this.readFixed(length)
  }

  readFixed(length: number): Buffer {
    const start = this.advance(length, 'a byte string')
    return Buffer.copyBytesFrom(this.bytes, start, length)
  }

  /**
   * The size of the next block of an array or a map; 0 ends it. An item has at least one byte
   * (schemas/generate.ts sees to that).
   */
  readCount(): number {
    const start = this.position
    let count = this.readLong()
    if (count < 0) {
      count = -count
      this.readLong() // the block's length in bytes, for those who skip; we walk, so nobody can send us backwards
    }
    if (count > this.remaining)
      throw new Error(
        `the list at byte ${start} claims ${count} items, but only ${this.remaining} bytes follow`,
      )
    return count
  }

  skipBoolean(): void {
    this.readBoolean()
  }

  skipInt(): void {
    this.readInt()
  }

  skipLong(): void {
    this.readLong()
  }

  skipDouble(): void {
    this.advance(8, 'a double')
  }

  skipString(): void {
    this.advance(this.readLong(), 'a string')
  }

  skipBytes(): void {
    this.advance(this.readLong(), 'a byte string')
  }

  skipFixed(length: number): void {
    this.advance(length, 'a byte string')
  }

  private readByte(): number {
    if (this.position >= this.end)
      throw new Error(`the record ends after ${this.end} bytes, in the middle of a value`)
    return this.bytes[this.position++] as number
  }

  private advance(length: number, what: string): number {
    const start = this.position
    if (length < 0 || length > this.end - start) {
      throw new Error(
        `${what} of ${length} bytes begins at byte ${start}, but only ${this.end - start} bytes follow`,
      )
    }
    this.position = start + length
    return start
  }
}
