// The corpus of the fuzzer, and a few changed inputs of a fixed seed. `make fuzz` tries more.

import { describe, expect, it } from '@jest/globals'
import { type Target, targets } from './targets.ts'
import { runOnce, tried } from './tried.ts'

describe.each(targets.map((target) => [target.name, target] as const))(
  'the parser of %s',
  (_, target) => {
    it('answers each entry of the corpus, or throws its documented error', async () => {
      expect(target.corpus.length).toBeGreaterThan(0)
      for (const entry of target.corpus) await runOnce(target, entry)
    })

    it('accepts an entry of the corpus', async () => {
      const outcomes = await Promise.allSettled(
        target.corpus.map(async (entry) => target.run(entry)),
      )
      expect(outcomes.map(({ status }) => status)).toContain('fulfilled')
    })

    it('answers changed entries, or throws its documented error', async () => {
      const runs = target.isText ? 300 : 10
      expect(await tried(target, { seed: 1, runs })).toBeUndefined()
    })
  },
)

it('finds a parser that throws another error, and keeps its smallest input', async () => {
  const broken: Target = {
    name: 'broken',
    corpus: [Buffer.from('{"a": [1, 2, 3]}')],
    isText: true,
    isExpected: () => false,
    run(input) {
      if (input.includes('[[')) throw new RangeError('too deep')
    },
  }
  const found = await tried(broken, { seed: 1, runs: 5_000 })
  expect(found?.reason).toContain('too deep')
  expect(found?.input.includes('[[')).toBe(true)
})
