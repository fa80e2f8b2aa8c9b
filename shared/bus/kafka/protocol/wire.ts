// The primitive types of Kafka's protocol, read from and written to a buffer. Sizes are computed
// first, so no buffer grows.

/** Reads forward; a read past the end throws a RangeError. */
export class WireReader {
  readonly bytes: Buffer
  at: number

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  get left(): number {
    return this.bytes.length - this.at
  }

  int8(): number {
    const value = this.bytes.readInt8(this.at)
    this.at += 1
    return value
  }

  int16(): number {
    const value = this.bytes.readInt16BE(this.at)
    this.at += 2
    return value
  }

  int32(): number {
    const value = this.bytes.readInt32BE(this.at)
    this.at += 4
    return value
  }

  /** Exact up to 2^53, far above any offset or time. */
  int64(): number {
    const high = this.bytes.readInt32BE(this.at)
    const low = this.bytes.readUInt32BE(this.at + 4)
    this.at += 8
    return high * 2 ** 32 + low
  }

  /** Zigzag: numbers of either sign. Exact up to 2^53. */
  varint(): number {
    const raw = this.uvarint()
    return raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2
  }

  uvarint(): number {
    let byte = this.byte()
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    for (let scale = 0x80; byte >= 0x80; scale *= 0x80) {
      if (scale > 2 ** 63) throw new RangeError('a varint has no end')
      byte = this.byte()
      value += (byte & 0x7f) * scale
    }
    return value
  }

  /** A view, not a copy. */
  bytesOf(length: number): Buffer {
    if (length < 0 || length > this.left)
      throw new RangeError(`expected ${length} bytes, found ${this.left}`)
    const view = this.bytes.subarray(this.at, this.at + length)
    this.at += length
    return view
  }

  text(length: number): string {
    if (length < 0 || length > this.left)
      throw new RangeError(`expected ${length} bytes, found ${this.left}`)
    const text = this.bytes.toString('utf8', this.at, this.at + length)
    this.at += length
    return text
  }

  string(): string {
    const length = this.int16()
    return length < 0 ? '' : this.text(length)
  }

  /** Flexible versions count from one: 0 is null. */
  compactString(): string {
    const length = this.uvarint() - 1
    return length < 0 ? '' : this.text(length)
  }

  array<T>(read: () => T): T[] {
    return times(this.int32(), read)
  }

  compactArray<T>(read: () => T): T[] {
    return times(this.uvarint() - 1, read)
  }

  /** Skips all tagged fields: they are newer than this version. */
  skipTags(): void {
    for (let count = this.uvarint(); count > 0; count -= 1) {
      this.uvarint()
      this.bytesOf(this.uvarint())
    }
  }

  private byte(): number {
    const value = this.bytes[this.at]
    if (value === undefined) throw new RangeError('the bytes end within a number')
    this.at += 1
    return value
  }
}

function times<T>(count: number, read: () => T): T[] {
  const items: T[] = []
  for (let n = 0; n < count; n += 1) items.push(read())
  return items
}

/** Writes into a buffer of the size that the caller has computed. */
export class WireWriter {
  readonly bytes: Buffer
  at = 0

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafe(size)
  }

  int8(value: number): this {
    this.at = this.bytes.writeInt8(value, this.at)
    return this
  }

  int16(value: number): this {
    this.at = this.bytes.writeInt16BE(value, this.at)
    return this
  }

  int32(value: number): this {
    this.at = this.bytes.writeInt32BE(value, this.at)
    return this
  }

  int64(value: number): this {
    this.bytes.writeInt32BE(Math.floor(value / 2 ** 32), this.at)
    this.at = this.bytes.writeUInt32BE(((value % 2 ** 32) + 2 ** 32) % 2 ** 32, this.at + 4)
    return this
  }

  /** Zigzag, for lengths and counts: -1 up to 2^31. */
  varint(value: number): this {
    return this.uvarint(value < 0 ? 1 : value * 2)
  }

  uvarint(value: number): this {
    let left = value
    while (left >= 0x80) {
      this.bytes[this.at++] = (left % 0x80) | 0x80
      left = Math.floor(left / 0x80)
    }
    this.bytes[this.at++] = left
    return this
  }

  raw(bytes: Uint8Array): this {
    this.bytes.set(bytes, this.at)
    this.at += bytes.length
    return this
  }

  text(text: string): this {
    this.at += this.bytes.write(text, this.at, 'utf8')
    return this
  }

  string(text: string): this {
    return this.int16(Buffer.byteLength(text)).text(text)
  }

  compactString(text: string): this {
    return this.uvarint(Buffer.byteLength(text) + 1).text(text)
  }

  written(): Buffer {
    return this.bytes.subarray(0, this.at)
  }
}

/** The bytes of a varint for a length or a count. */
export function varintSize(value: number): number {
  return uvarintSize(value < 0 ? 1 : value * 2)
}

export function uvarintSize(value: number): number {
  let size = 1
  for (let left = value; left >= 0x80; left = Math.floor(left / 0x80)) size += 1
  return size
}
