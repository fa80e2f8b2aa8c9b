// The responses that a forked session does not share with an earlier one.

import { describe, expect, it } from '@jest/globals'
import { createOwnResponses } from '../../../../apps/replay/scan/own-responses.ts'
import type { Transcript, TranscriptResponse } from '../../../../shared/transcript/transcript.ts'

const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
const text = (said: string): TranscriptResponse => ({
  id: undefined,
  text: said,
  reasoning: [],
  calls: [],
  usage,
  finish: '',
})
const call = (id: string): TranscriptResponse => ({
  ...text(''),
  calls: [{ id, name: 'Bash', arguments: '{}', result: undefined }],
})
const session = (...turns: TranscriptResponse[][]): Transcript => ({
  where: 'session',
  conversation: 's',
  tools: undefined,
  turns: turns.map((responses) => ({ user: 'Do it.', responses })),
})

describe('the own responses of a session', () => {
  it('are those after the copied beginning, with the texts in it', () => {
    const own = createOwnResponses()
    const first = session([call('a'), call('b'), text('Done.')])
    expect(own('codex', first)).toBe(first)
    const fork = session([call('a'), text('Hm.'), call('b')], [call('c'), text('Done.')])
    expect(own('codex', fork)).toEqual(session([call('c'), text('Done.')]))
  })

  it('are none of a session that is a beginning of an earlier one', () => {
    const own = createOwnResponses()
    own('codex', session([call('a'), call('b')]))
    expect(own('codex', session([call('a')]))).toBeUndefined()
  })

  it('are all of a session that only shares texts, later calls, or ids of another agent', () => {
    const own = createOwnResponses()
    own('codex', session([text('Hello.'), call('a')]))
    const others = [session([text('Hello.')]), session([call('x'), call('a')])]
    for (const other of others) expect(own('codex', other)).toBe(other)
    const foreign = session([call('a')])
    expect(own('claude-code', foreign)).toBe(foreign)
  })

  it('count again after the limit of kept responses', () => {
    const own = createOwnResponses(1)
    own('codex', session([call('a')]))
    own('codex', session([call('b')]))
    expect(own('codex', session([call('a')]))).toBeUndefined()
    const second = session([call('b')])
    expect(own('codex', second)).toBe(second)
  })
})
