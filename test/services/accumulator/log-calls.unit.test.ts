import { describe, expect, it } from '@jest/globals'
import { logCalls } from '../../../services/accumulator/log-calls.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { callStart, event, opened, proposedFor } from './stream.ts'

const proposed = proposedFor([
  callStart(),
  event('call_arguments', '{"a":'),
  event('call_end'),
  callStart({ index: 1, id: 'id2' }),
  event('call_end', '', 1),
])

describe('the log of finalized calls', () => {
  it('contains the raw argument text, its source and its problem for each call, at debug', () => {
    const place = {
      level: 20,
      conversation: 'c',
      turn: 7,
      round: 2,
      name: 'read',
      msg: 'call finalized',
    }
    expect(logged('debug', proposed)).toEqual([
      {
        ...place,
        ordinal: 0,
        source: 'deltas',
        problem: 'invalid_json',
        raw: '{"a":',
        time: expect.any(Number),
      },
      {
        ...place,
        ordinal: 1,
        source: 'none',
        problem: 'no_arguments',
        raw: '',
        time: expect.any(Number),
      },
    ])
  })

  it('reports repairs and disputed sources', () => {
    const call = [callStart({ text: '{}' }), event('call_arguments', "{'a':1}"), event('call_end')]
    expect(logged('debug', proposedFor(call))).toMatchObject([
      { raw: '{"a":1}', sent: "{'a':1}", mended: ['single-quotes'], disputed: true },
    ])
  })

  it('is silent above debug, and for other records', () => {
    expect(logged('info', proposed)).toEqual([])
    expect(logged('debug', opened())).toEqual([])
  })
})

function logged(level: string, message: Message): unknown[] {
  const lines: string[] = []
  logCalls(message, createLog({ level, destination: { write: (line) => lines.push(line) } }))
  return lines.map((line) => JSON.parse(line))
}
