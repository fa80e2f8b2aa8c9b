// Records of versions without the setting `textCalls`: a replay decides about them as it was
// recorded.

import { describe, expect, it } from '@jest/globals'
import { accumulator } from '../../../services/accumulator/reducer.ts'
import { codecOf, decode, encode, knownSchemas } from '../../../shared/codec/codec.ts'
import type { Message, ModelFinished, RoundProposed } from '../../../shared/contract/messages.ts'
import { given } from '../../support/given.ts'
import { declarationWith } from '../../support/messages.ts'
import { event, finished, opened, part } from './stream.ts'

const older = codecOf(
  knownSchemas.filter(({ schema }) => !schema.fields.some(({ name }) => name === 'textCalls')),
)

/** The record as an older version wrote it and this version reads it. */
function asOlder(message: ModelFinished): ModelFinished {
  return decode(older.encode(message as Message)) as ModelFinished
}

const write = declarationWith({
  name: 'write',
  timeoutMs: 1,
  schema: '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}',
})
const call = '{"name": "write", "arguments": {"path": "a"}}'

function proposed(text: string): RoundProposed['response'] {
  const end = finished({ stop: 'end', declarations: [write], textCalls: 'tell', echoOf: 'x' })
  const events = [event('text', text)]
  const [record] = given(accumulator, opened(), part(0, ...events), asOlder(end)).to('next')
  return (record as RoundProposed).response
}

describe('a response of an older log', () => {
  it('has no setting, and no earlier text that holds it', () => {
    expect(asOlder(finished({ textCalls: 'tell', echoOf: 'x' }))).toMatchObject({
      textCalls: null,
      echoOf: null,
    })
    const newer = finished({ textCalls: 'tell', echoOf: 'x' })
    expect(decode(encode(newer))).toEqual(newer)
  })

  it('runs calls that are its whole text', () => {
    expect(proposed(call)).toMatchObject({
      text: '',
      calls: [{ name: 'write', source: 'text' }],
      textCalls: { fault: null, held: null },
    })
  })

  it('is not searched for other texts that hold a call', () => {
    for (const text of [
      `I write.\n<tool_call>\n${call}\n</tool_call>`,
      '{"tool_name": "write", "args": {"path": "a"}}',
    ])
      expect(proposed(text)).toMatchObject({ text, calls: [], textCalls: null })
  })
})
