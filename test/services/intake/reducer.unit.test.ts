import { describe, expect, it } from '@jest/globals'
import { intake } from '../../../services/intake/reducer.ts'
import { contentPieceBytesMax } from '../../../shared/contract/call/contents.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { CancelRequested, ForkRequested, Origin } from '../../../shared/contract/messages.ts'
import { keyOf, topicOf } from '../../../shared/contract/topology.ts'
import { given } from '../../support/given.ts'
import { userMessage } from '../../support/messages.ts'

const cancel: CancelRequested = { type: 'cancel-requested', conversation: 'c', messageId: 'm' }

describe('a message of a client', () => {
  it.each([userMessage(), cancel])('is copied to the conversation as it is: $type', (message) => {
    expect(given(intake).when(message).records).toEqual([{ to: 'conversation', message }])
  })

  it('goes to the inbox of guests if it cancels one of them, and a user message never does', () => {
    const guest = { conversation: 'guest:a:1' }
    expect(topicOf('intake', 'conversation', cancel)).toBe('conversation-events')
    expect(topicOf('intake', 'conversation', { ...cancel, ...guest })).toBe('guest-events')
    expect(topicOf('intake', 'conversation', userMessage(guest))).toBe('conversation-events')
  })

  it('reaches the conversation also if the copy fails, so its turn can fail', () => {
    const record = { message: userMessage(), offset: 0, previous: undefined, time: 1 }
    expect(intake.failed(undefined, record, 'it threw').records).toEqual([
      { to: 'conversation', message: record.message },
    ])
  })
})

describe('the result of a call that a client ran', () => {
  it('is copied to the executor as it is', () => {
    const place = { conversation: 'c', turn: 7, round: 1, ordinal: 0 }
    const end = { resultId: 'r', isError: false, text: 'done' }
    const message = { type: 'result-sent' as const, ...place, ...end }
    expect(given(intake).when(message).records).toEqual([{ to: 'tools', message }])
  })
})

describe('a piece of an image or a file', () => {
  const hash = 'a'.repeat(64)
  const sent = {
    type: 'content-sent' as const,
    conversation: 'c',
    hash,
    piece: 1,
    data: Buffer.from('x'),
  }

  it('is copied to the history under its hash', () => {
    const { records } = given(intake).when(sent)
    expect(records).toEqual([{ to: 'history', message: { ...sent, type: 'content-kept' } }])
    expect(records?.map(({ message }) => keyOf(message))).toEqual([`["c","${hash}",1]`])
  })

  it.each([
    ['no hash', { hash: 'x' }],
    ['a place that no content has', { piece: 16 }],
    ['a negative place', { piece: -1 }],
    ['no bytes', { data: Buffer.alloc(0) }],
    ['too many bytes', { data: Buffer.alloc(contentPieceBytesMax + 1) }],
  ])('is dropped if it has %s', (_, fields) => {
    expect(given(intake).when({ ...sent, ...fields }).records).toEqual([])
  })
})

describe('a fork', () => {
  const origin = { conversation: 'acme:c', turn: 7, entries: 3 }
  const asked: ForkRequested = {
    type: 'fork-requested',
    conversation: 'acme:f',
    origins: [{ conversation: 'acme:b', turn: 2, entries: 2 }, origin],
  }

  it('is kept in the history of the new conversation with the names of its origins', () => {
    const { records } = given(intake).when(asked)
    expect(records).toEqual([{ to: 'history', message: { ...asked, type: 'conversation-forked' } }])
    expect(records.map(({ message }) => keyOf(message))).toEqual(['["acme:f","origin",0]'])
  })

  it.each<[string, Origin[]]>([
    ['no origin', []],
    ['an origin of another tenant', [{ ...origin, conversation: 'other:c' }]],
    ['an origin of the default tenant', [{ ...origin, conversation: 'c' }]],
    ['itself as an origin', [{ ...origin, conversation: 'acme:f' }]],
    ['one origin twice', [origin, { ...origin, turn: 9 }]],
    [
      'a later origin with an earlier turn',
      [origin, { ...origin, conversation: 'acme:d', turn: 6 }],
    ],
    ['an origin without entries', [{ ...origin, entries: 0 }]],
    ['an origin without an id', [{ ...origin, conversation: '' }]],
    [
      'too many origins',
      Array.from({ length: limits.forkOriginsMax + 1 }, (_, turn) => ({
        ...origin,
        conversation: `acme:${turn}`,
        turn,
      })),
    ],
  ])('is dropped if it has %s', (_, origins) => {
    expect(given(intake).when({ ...asked, origins }).records).toEqual([])
  })

  it('of an agent that owns its model is dropped', () => {
    const origins = [{ ...origin, conversation: 'guest:a:1' }]
    const message = { ...asked, conversation: 'f', origins }
    expect(given(intake).when(message).records).toEqual([])
  })
})
