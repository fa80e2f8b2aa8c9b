// Replaces a process's random numbers by those of the current moment (moment.ts): Math.random,
// node:crypto and Web Crypto. It does not cover keys, primes, signatures and encryption.

import crypto from 'node:crypto'
import type { Moment } from './held-moment.ts'

type Callback = (error: null, value: unknown) => void

/**
 * Lasts as long as the process. If `held` returns undefined, chance is real. The real functions are
 * called too, because they check the arguments.
 */
export function holdChance(held: () => Moment | undefined): void {
  const realRandom = Math.random
  Math.random = () => held()?.draw() ?? realRandom()

  function hold(
    holder: object,
    name: string,
    made: (moment: Moment, real: unknown, args: unknown[]) => unknown,
  ): void {
    const real = Reflect.get(holder, name)
    if (typeof real !== 'function') return // older Node.js versions lack randomUUIDv7
    function value(this: unknown, ...args: unknown[]): unknown {
      const moment = held()
      if (moment === undefined) return Reflect.apply(real, this ?? holder, args)
      const callback = args.at(-1)
      if (typeof callback !== 'function')
        return made(moment, Reflect.apply(real, this ?? holder, args), args)
      const others = args.slice(0, -1)
      process.nextTick(
        callback as Callback,
        null,
        made(moment, Reflect.apply(synchronous(name, real), holder, others), others),
      )
    }
    Object.defineProperty(holder, name, {
      value,
      writable: true,
      configurable: true,
      enumerable: true,
    })
  }

  for (const name of ['randomBytes', 'pseudoRandomBytes', 'prng', 'rng'])
    hold(crypto, name, (moment, bytes) => moment.fill(bytes as Buffer))
  for (const name of ['randomFill', 'randomFillSync'])
    hold(crypto, name, (moment, target, [, offset, size]) => {
      moment.fill(
        stretchOf(
          target as ArrayBufferView,
          offset as number | undefined,
          size as number | undefined,
        ),
      )
      return target
    })
  hold(crypto, 'randomInt', ({ draw }, _, args) => {
    const [from, below] = args.length === 1 ? [0, Number(args[0])] : args.map(Number)
    return Math.floor((from ?? 0) + draw() * ((below ?? 0) - (from ?? 0)))
  })
  hold(crypto, 'randomUUID', uuid4)
  hold(crypto, 'randomUUIDv7', uuid7)

  const { prototype } = globalThis.Crypto
  hold(prototype, 'randomUUID', uuid4)
  hold(prototype, 'getRandomValues', (moment, target) => {
    moment.fill(stretchOf(target as ArrayBufferView))
    return target
  })
}

/** The synchronous function of the same name. */
function synchronous(
  name: string,
  real: (...args: never[]) => unknown,
): (...args: never[]) => unknown {
  return name === 'randomFill' ? (crypto.randomFillSync as typeof real) : real
}

/** `offset`, `size`: in elements of the target. */
function stretchOf(target: ArrayBufferView | ArrayBuffer, offset = 0, size?: number): Uint8Array {
  if (!ArrayBuffer.isView(target)) return new Uint8Array(target, offset, size)
  const width = 'BYTES_PER_ELEMENT' in target ? Number(target.BYTES_PER_ELEMENT) : 1
  const begin = offset * width
  return new Uint8Array(
    target.buffer,
    target.byteOffset + begin,
    size === undefined ? target.byteLength - begin : size * width,
  )
}

function uuid4(moment: Moment): string {
  return uuidText(moment.fill(new Uint8Array(16)), 4)
}

/** Begins with the time. */
function uuid7(moment: Moment): string {
  const bytes = Buffer.from(moment.fill(new Uint8Array(16)))
  bytes.writeUIntBE(Math.floor(moment.time), 0, 6)
  return uuidText(bytes, 7)
}

function uuidText(bytes: Uint8Array, version: number): string {
  const [high = 0, variant = 0] = [bytes[6], bytes[8]]
  bytes.set([(high & 15) | (version << 4)], 6)
  bytes.set([(variant & 63) | 128], 8)
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
