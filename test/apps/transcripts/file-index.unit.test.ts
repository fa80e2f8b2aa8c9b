// The transcripts of a file, by its values.

import { describe, expect, it } from '@jest/globals'
import type { IdField } from '../../../apps/transcripts/conversation-id.ts'
import { createFileIndex } from '../../../apps/transcripts/file-index.ts'
import { formatNamed } from '../../../apps/transcripts/formats.ts'
import { createLeftOut } from '../../../shared/transcript/left-out.ts'

/** The ids of the kept values, and the lines that are printed about them. */
function keptOf(idField: IdField, values: unknown[]) {
  const leftOut = createLeftOut()
  const index = createFileIndex({
    file: 'log.jsonl',
    areSeveral: true,
    format: formatNamed('openai'),
    idField,
    leftOut,
  })
  for (const [number, value] of values.entries())
    index.take({ number, where: `log.jsonl:${number + 1}`, value })
  return { ids: index.kept().entries.map(({ id }) => id), told: leftOut.lines() }
}

const exchange = { request: [{ role: 'user', content: 'ping' }], response: 'pong' }
const lines = [{ ...exchange, about: { chat: 'a' } }, exchange, { ...exchange, about: 'b' }]

describe('createFileIndex', () => {
  it('counts the lines without an id in the given field', () => {
    const told = ['no id of a conversation at about.chat (2 times, first log.jsonl:2)']
    expect(keptOf(['about', 'chat'], lines)).toEqual({ ids: ['a', undefined], told })
    expect(keptOf(undefined, lines).told).toEqual([])
    expect(keptOf('none', lines).told).toEqual([])
  })

  it('finds an id in the envelope of a message', () => {
    const messages = ['user', 'assistant'].map((role) => ({
      at: 's',
      message: { role, content: 'ping' },
    }))
    expect(keptOf(['at'], messages)).toEqual({ ids: ['s'], told: [] })
    expect(() => keptOf(['message', 'at'], messages)).toThrow(
      /no transcript of log\.jsonl has an id/,
    )
  })

  it('refuses a field in which no line has an id', () => {
    const message = expect.stringMatching(
      /^no transcript of log\.jsonl has an id at 'about\.chta' \(--conversation-id\)/,
    )
    expect(() => keptOf(['about', 'chta'], lines)).toThrow(
      expect.objectContaining({ code: 'usage', message }),
    )
  })
})
