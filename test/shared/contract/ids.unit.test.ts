import { describe, expect, it } from '@jest/globals'
import {
  type CallId,
  type ConversationId,
  callKey,
  isSameCall,
  isSameRound,
  type MessageId,
  parseConversationId,
  parseMessageId,
  type RoundId,
  roundKey,
  turnKey,
} from '../../../shared/contract/ids.ts'
import type { Claim } from '../../../shared/contract/messages.ts'

const call: CallId = { conversation: 'c', turn: 3, round: 1, ordinal: 0 }

describe('the parsers of ids', () => {
  it('return an id of 1 to 256 bytes unchanged', () => {
    for (const text of ['c', 'ä b', 'é'.repeat(128)]) {
      expect(parseConversationId(text)).toBe(text)
      expect(parseMessageId(text)).toBe(text)
    }
  })

  it('return the id of an agent that a call asks, which names all callers, up to 1 KiB', () => {
    const id = (bytes: number) => `call/${'c'.repeat(bytes - 11)}/1/1/0`
    expect(parseConversationId(id(1_024))).toBe(id(1_024))
    expect(() => parseConversationId(id(1_025))).toThrow('has 1025 bytes; it must have 1 to 1024')
  })

  it.each([
    ['an empty id', '', 'has 0 bytes; it must have 1 to 256'],
    ['an id over the limit in bytes', 'é'.repeat(129), 'has 258 bytes; it must have 1 to 256'],
    ['half of a character', 'a\ud83d', 'has half of a surrogate pair'],
  ])('refuse %s and name the limit', (_, text, fault) => {
    const error = (name: string) =>
      expect.objectContaining({
        code: 'message.invalid',
        message: expect.stringContaining(`${name} ${fault}`),
      })
    expect(() => parseConversationId(text)).toThrow(error("the conversation's id"))
    expect(() => parseMessageId(text)).toThrow(error('the message id'))
  })
})

describe('the types of ids', () => {
  it('accept a literal, a text and a whole record, and refuse an id of another kind', () => {
    const text: string = call.conversation
    const conversation: ConversationId = text
    const message: MessageId = 'm'
    // @ts-expect-error a message's id is not a conversation's
    const wrong: ConversationId = message
    const claim: Pick<Claim, keyof CallId | 'owner'> = { ...call, owner: 'o' }
    const round: RoundId = claim
    expect([conversation, wrong, round.round]).toEqual(['c', 'm', 1])
  })
})

describe('the keys of ids', () => {
  it('hold only the id, as JSON, so that no conversation can imitate another', () => {
    const record = { ...call, conversation: 'c",3', owner: 'o' }
    expect(turnKey(record)).toBe(String.raw`["c\",3",3]`)
    expect(roundKey(record)).toBe(String.raw`["c\",3",3,1]`)
    expect(callKey(record)).toBe(String.raw`["c\",3",3,1,0]`)
  })
})

describe('the comparison of ids', () => {
  it('compares every field of the id and no other', () => {
    expect(isSameCall(call, { ...call, ...{ owner: 'o' } })).toBe(true)
    expect(isSameRound(call, { ...call, ...{ ordinal: 1 } })).toBe(true)
    for (const other of [{ conversation: 'd' }, { turn: 4 }, { round: 2 }]) {
      expect(isSameRound(call, { ...call, ...other })).toBe(false)
      expect(isSameCall(call, { ...call, ...other })).toBe(false)
    }
    expect(isSameCall(call, { ...call, ordinal: 1 })).toBe(false)
  })
})
