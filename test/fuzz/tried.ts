// Tries one target with inputs of one seed.

import fc from 'fast-check'
import { inputsFrom } from './inputs.ts'
import type { Target } from './targets.ts'

/** An input with which the property does not hold, as small as fast-check finds it. */
export type Found = { input: Buffer; reason: string }

export async function runOnce({ run, isExpected }: Target, input: Buffer): Promise<void> {
  try {
    await run(input)
  } catch (error) {
    if (!isExpected(error)) throw error
  }
}

/** `onInput` gets each input before it is tried. */
export async function tried(
  target: Target,
  { seed, runs }: { seed: number; runs: number },
  onInput: (input: Buffer) => void = () => {},
): Promise<Found | undefined> {
  const property = fc.asyncProperty(inputsFrom(target.corpus, target.isText), async (input) => {
    onInput(input)
    await runOnce(target, input)
  })
  const result = await fc.check(property, { seed, numRuns: runs, interruptAfterTimeLimit: 60_000 })
  const [input] = result.counterexample ?? []
  if (input === undefined) return undefined
  const error = result.errorInstance
  return { input, reason: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}
