// Avro's primitives as bytes, on avsc's "tap": a writer into a buffer that grows, and a reader that never
// leaves its record. Owns: every check against the end of the record, and exact numbers. Does not own:
// the structure of a record (avro-types.ts). avsc's tap has three faults. It reads zeros after the end,
// so a false count of 2^31 is a loop of 2^31. It loses the lowest bit of longs below -2^52. It writes
// half surrogate pairs as bytes that are not UTF-8. The reader shares nothing with it: each of its
// methods needs a check.
//
// A count or a length beyond the end of the record is refused.
// A number is decoded exactly, or refused.

// @ts-expect-error avsc has no types for its inner files
import utils from 'avsc/lib/utils.js'

/** A write after the end of `buf` only moves `pos`. */
type AvscTap = {
  buf: Buffer
  pos: number
  isValid(): boolean
  writeLong(value: number): void
  writeString(text: string): void
  writeBytes(bytes: Buffer): void
}
const { Tap } = utils as { Tap: new (buf: Buffer, pos?: number) => AvscTap }

const scratchBytes = 16 * 1024
/** A larger scratch buffer is released after its message. */
const scratchBytesKept = 1024 * 1024
const varintBytesMax = 10
/**
 * Up to this length a loop over the characters beats the call into Node's UTF-8 code (measured on
 * Node 24).
 */
const shortRead = 8

export class ByteWriter extends Tap {
  constructor() {
    super(Buffer.allocUnsafeSlow(scratchBytes))
  }

  /** A copy of the bytes that `write` writes, with room for a header. */
  written(headerBytes: number, write: () => void): Buffer {
    if (this.buf.length > scratchBytesKept) this.buf = Buffer.allocUnsafeSlow(scratchBytes)
    this.pos = headerBytes
    write()
    if (!this.isValid()) {
      this.buf = Buffer.allocUnsafeSlow(2 * this.pos)
      this.pos = headerBytes
      write()
    }
    return Buffer.copyBytesFrom(this.buf, 0, this.pos)
  }

  /** `value` is a safe integer: the types check that. */
  override writeLong(value: number): void {
    if (value >= -(2 ** 52)) return super.writeLong(value)
    let rest = (BigInt(-(value + 1)) << 1n) | 1n
    for (; rest > 0x7fn; rest >>= 7n) this.buf[this.pos++] = Number(rest & 0x7fn) | 0x80
    this.buf[this.pos++] = Number(rest)
  }

  /** A lone surrogate becomes U+FFFD, so it does not come back as it was. */
  override writeString(text: string): void {
    super.writeString(text.toWellFormed())
  }
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

  skipBoolean = this.readBoolean
  skipInt = this.readInt
  skipLong = this.readLong
  skipDouble = this.readDouble
  skipString = this.readString
  skipBytes = this.readBytes
  skipFixed = this.readFixed

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
