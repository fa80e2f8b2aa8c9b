import { describe, expect, it } from '@jest/globals'
import { recordView, redactedRecords } from '../../../client/history/redacted.ts'
import { encode } from '../../../shared/codec/codec.ts'
import type { Message, Part, PartEvent, RedactRule } from '../../../shared/contract/messages.ts'

const email: RedactRule = { name: 'email', pattern: null, path: null }
const password: RedactRule = { name: 'password', pattern: null, path: 'arguments.password' }

const place = { conversation: 'c', turn: 0, round: 1 }
const answer = { attempt: 'a', stop: 'calls', usage: {}, textBytes: 1 }

function entry(round: number, fields: object): Message {
  const none = { user: null, afterTurn: null, contents: [], response: null }
  const rest = { results: [], nudge: null, note: null }
  return {
    type: 'history-entry',
    ...place,
    round,
    ...none,
    ...rest,
    redact: [],
    ...fields,
  } as Message
}

function part(i: number, text: string): Part {
  const event = { kind: 'text', index: 0, id: null, name: null, text } as PartEvent
  return { type: 'part', ...place, attempt: 'a', i, events: [event] }
}

const answered = (text: string, raw?: string) =>
  ({
    type: 'model-answered',
    ...place,
    ...answer,
    text,
    calls: raw === undefined ? [] : [{ ordinal: 0, id: '', name: 'login', arguments: raw }],
  }) as unknown as Message

describe('the records of a conversation', () => {
  it('have no value of a rule in any of them, also where parts split it', () => {
    const messages = [
      entry(0, { user: 'I am ann@mail.example.', redact: [email, password] }),
      part(0, 'Hello ann@ma'),
      part(1, 'il.example!'),
      answered('', '{"password":"hunter-22"}'),
      entry(1, { note: 'hunter-22 was refused' }),
    ]
    const shown = redactedRecords(messages.map((message) => ({ message })))
    const texts = JSON.stringify(shown)
    expect(texts).not.toMatch(/@ma|hunter/)
    expect(texts).toContain('Hello [email]!')
    expect(texts).toContain('[password] was refused')
  })

  it('stay as they are without rules', () => {
    const records = [{ message: entry(0, { user: 'ann@mail.example' }) }, { message: undefined }]
    expect(redactedRecords(records)).toEqual(records)
  })
})

describe('a record shown alone', () => {
  function viewOf(rules: RedactRule[] | undefined) {
    const opening = entry(0, { redact: rules ?? [] })
    const record = { offset: 0, value: encode(opening) }
    const bus = { read: async () => (rules === undefined ? [] : [record]) }
    return recordView({ bus, topicPrefix: 'weir.', partitions: 1 } as never)
  }

  it('has the rules of its turn', async () => {
    expect(await viewOf([email])(answered('ann@mail.example'))).toEqual(answered('[email]'))
    expect(await viewOf([])(answered('ann@mail.example'))).toEqual(answered('ann@mail.example'))
  })

  it('has no text if the rules of its turn are gone', async () => {
    expect(await viewOf(undefined)(answered('ann@mail.example'))).toEqual(answered('[redacted]'))
  })

  it('has no text if an argument is to be hidden that it does not have', async () => {
    const view = viewOf([password])
    expect(await view(answered('hunter-22'))).toEqual(answered('[redacted]'))
    const raw = '{"password":"hunter-22"}'
    expect(await view(answered('it is hunter-22', raw))).toEqual(
      answered('it is [password]', '{"password":"[password]"}'),
    )
  })

  it('has no text of a part, because values can be split', async () => {
    expect(await viewOf([email])(part(0, 'ann@ma'))).toMatchObject({
      events: [{ text: '[redacted]' }],
    })
  })
})
