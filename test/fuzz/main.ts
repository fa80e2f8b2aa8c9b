// `make fuzz MINUTES=10` tries the parsers with changed inputs of test/fuzz/corpus, and prints each
// input with which a property does not hold. SEED= repeats a run, ONLY= selects targets by name.
//
// One input has 10 seconds of a thread and 512 MiB. More is a finding, with its input.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { Report, Work } from './worker.ts'

const inputMsMax = 10_000
const memoryMbMax = 512
const sharedBytes = 8 + 256 * 1024
const foundFolder = fileURLToPath(new URL('../../out/fuzz/', import.meta.url))

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string' },
    only: { type: 'string' },
  },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000_000)
const endsAt = Date.now() + Number(values.minutes) * 60_000
console.log(`seed ${seed}, ${values.minutes} minutes`)

const tries = new Map<string, number>()
let findings = 0
let nextSeed = seed
while (Date.now() < endsAt) await runThread()

for (const [target, count] of tries) console.log(`${String(count).padStart(9)} inputs: ${target}`)
console.log(findings === 0 ? 'nothing found' : `${findings} findings in ${foundFolder}`)
process.exit(findings === 0 ? 0 : 1)

/** Ends at the end of the run, or with a thread that an input has ended. */
async function runThread(): Promise<void> {
  const shared = new SharedArrayBuffer(sharedBytes)
  const numbers = new Int32Array(shared, 0, 2)
  const work: Work = { seed: nextSeed, only: values.only, shared }
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: work,
    resourceLimits: { maxOldGenerationSizeMb: memoryMbMax },
  })
  const ended = Promise.withResolvers<void>()
  let target = ''
  let countBefore = 0
  let seenAt = Date.now()
  let seen = 0

  const lastInput = () => Buffer.from(new Uint8Array(shared, 8, numbers[1] ?? 0))
  const count = () => {
    const now = Atomics.load(numbers, 0)
    tries.set(target, (tries.get(target) ?? 0) + now - countBefore)
    countBefore = now
  }
  worker.on('message', (message: Report) => {
    if (target !== '') count()
    target = message.target
    nextSeed = message.seed + 1
    if (message.kind === 'found')
      keep(target, message.seed, Buffer.from(message.input), message.reason)
  })
  worker.once('error', (error) => {
    keep(target, nextSeed - 1, lastInput(), error.stack ?? error.message)
    ended.resolve()
  })
  const timer = setInterval(() => {
    const now = Atomics.load(numbers, 0)
    if (now !== seen || now === 0) {
      seen = now
      seenAt = Date.now()
    }
    const hangs = Date.now() - seenAt > inputMsMax
    if (hangs) keep(target, nextSeed - 1, lastInput(), `no answer within ${inputMsMax} ms`)
    if (hangs || Date.now() > endsAt) ended.resolve()
  }, 500)
  await ended.promise
  clearInterval(timer)
  if (target !== '') count()
  await worker.terminate()
}

function keep(target: string, at: number, input: Buffer, reason: string): void {
  findings += 1
  mkdirSync(foundFolder, { recursive: true })
  const file = join(foundFolder, `${target.replaceAll(' ', '-')}-${at}`)
  writeFileSync(file, input)
  console.error(`FOUND ${target}, seed ${at}: ${file}\n${reason}\n`)
}
