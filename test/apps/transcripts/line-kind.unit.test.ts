// Finds the transcript of a session's line.

import { describe, expect, it } from '@jest/globals'
import { createLineKinds } from '../../../apps/transcripts/line-kind.ts'
import { sessions } from '../../../shared/wire/sessions.ts'

describe('createLineKinds', () => {
  it('follows the conversation of an agent in a session across lines that are no messages', () => {
    const kinds = createLineKinds(undefined, sessions)
    const line = (uuid: string, parentUuid: string | null, more: object) => ({
      sessionId: 's',
      isSidechain: true,
      uuid,
      parentUuid,
      ...more,
    })
    const said = (role: string) => ({ type: role, message: { role, content: '' } })
    const lines = [
      line('b1', null, said('user')),
      line('b2', 'b1', said('assistant')),
      line('b3', 'b2', { type: 'progress' }),
      line('b4', 'b3', said('user')),
      line('b5', 'b4', said('assistant')),
      line('c1', null, { type: 'system' }),
      line('c2', 'c1', said('user')),
    ]
    expect(
      lines
        .map((one) => kinds.kindOf(one))
        .map((kind) => (kind.kind === 'message' ? kind.of : kind.kind)),
    ).toEqual([...['s/b1', 's/b1', 'other', 's/b1', 's/b1'], ...['other', 's/c1']])
  })
})
