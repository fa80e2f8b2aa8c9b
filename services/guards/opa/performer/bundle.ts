// The files of an operator for the opa guard: a compiled policy, or a bundle of `opa build -t wasm`,
// which is a gzipped tar with the policy and its data.

import { readFileSync, statSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { limits } from '../../../../shared/contract/limits.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'

/** `data`: the data document of the bundle; undefined: it has none. */
export type Bundle = { wasm: Uint8Array; data: object | undefined }

/** Throws an Error with the fault of the file. */
export function readBundle(file: string): Bundle {
  const bytes = readBounded(file)
  if (isWasm(bytes)) return { wasm: bytes, data: undefined }
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b)
    throw new Error(
      'it is neither a WebAssembly module nor a bundle; make it with opa build -t wasm',
    )
  const files = filesInTar(gunzipSync(bytes, { maxOutputLength: limits.opaBundleBytesMax }))
  const wasm = files.get('policy.wasm')
  if (wasm === undefined || !isWasm(wasm))
    throw new Error('the bundle has no policy.wasm; make it with opa build -t wasm -e PATH')
  const data = files.get('data.json')
  return { wasm, data: data === undefined ? undefined : dataIn(data) }
}

/** Throws an Error with the fault of the file. */
export function readData(file: string): object {
  return dataIn(readBounded(file))
}

function dataIn(bytes: Buffer): object {
  const data: unknown = JSON.parse(bytes.toString())
  if (!isObject(data)) throw new Error('its data is no JSON object')
  return data
}

function readBounded(file: string): Buffer {
  const { size } = statSync(file)
  if (size > limits.opaBundleBytesMax)
    throw new Error(`it has ${size} bytes; at most ${limits.opaBundleBytesMax} are read`)
  return readFileSync(file)
}

function isWasm(bytes: Buffer): boolean {
  return bytes.subarray(0, 4).equals(Buffer.from('\0asm'))
}

const block = 512

/** The regular files of a tar in the format ustar, by name without a leading slash. */
function filesInTar(tar: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  for (let at = 0; at + block <= tar.length; ) {
    const header = tar.subarray(at, at + block)
    if (header.every((byte) => byte === 0)) break
    const size = Number.parseInt(textIn(header, 124, 12), 8)
    const begin = at + block
    if (!(size >= 0 && begin + size <= tar.length)) throw new Error('the bundle is damaged')
    const type = textIn(header, 156, 1)
    if (type === '0' || type === '')
      files.set(textIn(header, 0, 100).replace(/^\.?\//, ''), tar.subarray(begin, begin + size))
    at = begin + Math.ceil(size / block) * block
  }
  return files
}

function textIn(header: Buffer, from: number, length: number): string {
  const field = header.subarray(from, from + length)
  const end = field.indexOf(0)
  return field.subarray(0, end < 0 ? length : end).toString()
}
