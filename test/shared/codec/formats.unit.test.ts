import { execFileSync } from 'node:child_process'
import { describe, expect, it } from '@jest/globals'
import type { LockEntry } from '../../../schemas/lock-entry.ts'
import { knownSchemas } from '../../../shared/codec/codec.ts'
import { closedFormats, formatOf } from '../../../shared/codec/formats.ts'

describe('the closed formats', () => {
  it('are numbered from 1, and each ends after the one before it', () => {
    expect(closedFormats.map(({ format }) => format)).toEqual(closedFormats.map((_, at) => at + 1))
    const ends = closedFormats.map(({ lastSchema }) => lastSchema)
    expect(ends).toEqual(ends.toSorted((a, b) => a - b))
    expect(new Set(ends).size).toBe(ends.length)
  })

  it('contain released schemas only', () => {
    const end = closedFormats.at(-1)?.lastSchema ?? 0
    expect(knownSchemas.filter(({ id, released }) => id <= end && !released)).toEqual([])
  })

  it('have the schemas of their commit, where the history is here', () => {
    for (const { commit, lastSchema } of closedFormats) {
      const lock = lockAt(commit)
      if (lock === undefined) continue
      expect(lock.map(contentOf)).toEqual(
        knownSchemas.filter(({ id }) => id <= lastSchema).map(contentOf),
      )
    }
  })
})

it('a schema after the last closed format belongs to the next format', () => {
  const end = closedFormats.at(-1)?.lastSchema ?? 0
  expect([1, end, end + 1].map(formatOf)).toEqual([
    1,
    closedFormats.length,
    closedFormats.length + 1,
  ])
})

function contentOf({ id, type, version, schema }: LockEntry): object {
  return { id, type, version, schema }
}

/** Undefined: this checkout does not have the commit. */
function lockAt(commit: string): LockEntry[] | undefined {
  try {
    const text = execFileSync('git', ['show', `${commit}:schemas/lock.json`], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return JSON.parse(text) as LockEntry[]
  } catch {
    return undefined
  }
}
