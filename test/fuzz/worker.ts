// A thread of the fuzzer: tries the targets in turn, and shows main.ts each input before it tries
// the input.

import { parentPort, workerData } from 'node:worker_threads'
import { targets } from './targets.ts'
import { tried } from './tried.ts'

/** `shared`: the count of inputs, the length of the last one, and its bytes. */
export type Work = { seed: number; only: string | undefined; shared: SharedArrayBuffer }
export type Report =
  | { kind: 'begins'; target: string; seed: number }
  | { kind: 'found'; target: string; seed: number; input: Uint8Array; reason: string }

const { seed: firstSeed, only, shared } = workerData as Work
const numbers = new Int32Array(shared, 0, 2)
const bytes = new Uint8Array(shared, 8)
const chosen = targets.filter(({ name }) => only === undefined || name.includes(only))
if (chosen.length === 0) throw new Error(`no target is called ${only}`)

for (let seed = firstSeed; ; seed++)
  for (const target of chosen) {
    report({ kind: 'begins', target: target.name, seed })
    const runs = target.name === 'bundles' ? 100 : 2_000
    const found = await tried(target, { seed, runs }, (input) => {
      bytes.set(input.subarray(0, bytes.length))
      numbers[1] = Math.min(input.length, bytes.length)
      Atomics.add(numbers, 0, 1)
    })
    if (found !== undefined) report({ kind: 'found', target: target.name, seed, ...found })
  }

function report(message: Report): void {
  parentPort?.postMessage(message)
}
