// The checker of encryption with violations planted in a sound run. A checker that never reports anything
// proves nothing.

import { describe, expect, it } from '@jest/globals'
import { check } from '../check.ts'
import { noReadableContent } from '../checkers/log/no-readable-content.ts'
import { recordAt } from './planted.ts'
import { type ChaosEvidence, logged, soundRun } from './sound-run.ts'

/** The sound run with encrypted records. A policy and a tick are readable. */
function encryptedRun(): ChaosEvidence & { isEncrypted: true } {
  const run = soundRun()
  const encrypted = run.records.map((record) => ({
    ...record,
    encryptedWith: 'conversation' as const,
    showsContent: false,
  }))
  const readable = [
    logged({ topic: 'policies', offset: 0, time: 90, message: { type: 'fleet-format' } }),
    logged({ topic: 'activity', offset: 90, time: 90, message: { type: 'tick' } }),
  ]
  return { ...run, records: [...encrypted, ...readable], isEncrypted: true }
}

const message = { topic: 'conversation-events', offset: 0 }

describe('the checker of encryption', () => {
  it('reports nothing about encrypted records, a policy and a tick', async () => {
    expect(await noReadableContent.check(encryptedRun())).toEqual([])
  })

  it('reports a record whose stored bytes show content', async () => {
    const run = encryptedRun()
    Object.assign(recordAt(run, message), { showsContent: true })
    expect(await noReadableContent.check(run)).toEqual([
      { problem: 'its stored bytes show content', at: 'conversation-events/0/0' },
    ])
  })

  it('reports a message that is not encrypted', async () => {
    const run = encryptedRun()
    Object.assign(recordAt(run, message), { encryptedWith: undefined })
    expect(await noReadableContent.check(run)).toEqual([
      { problem: 'user-message is not encrypted', at: 'conversation-events/0/0' },
    ])
  })

  it('skips a run without encryption', async () => {
    const names = (await check(soundRun())).map(({ checker }) => checker)
    expect(names).not.toContain('no-readable-content')
  })
})
