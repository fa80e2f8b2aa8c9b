// The ids in answers to sent messages, and the ids of requests.

import { describe, expect, it } from '@jest/globals'
import {
  withoutMessageId,
  withoutNewIds,
} from '../../../../services/loop-detector/evidence/stamp.ts'

describe('two answers are equal if they differ only in', () => {
  it.each([
    ['an id', '{"id": "TCK-1", "state": "new"}', '{"id": "TCK-2", "state": "new"}'],
    ['a numeric id', '{"message_id":7}', '{"message_id":8}'],
    ['a time stamp as an id', '{"ok":true,"ts":"17.1"}', '{"ok":true,"ts":"18.2"}'],
    ['a number of a sequence', '{"SequenceNumber": "18"}', '{"SequenceNumber": "19"}'],
    ['the key of an issue', 'created OPS-881', 'created OPS-882'],
    ['a number sign', 'Ticket #12 was created', 'Ticket #13 was created'],
    ['an address', 'see https://git.test/x/7#c-12', 'see https://git.test/x/8#c-14'],
    ['a named id', 'sent, id=a7', 'sent, id=b8'],
  ])('%s', (_, one, other) => expect(withoutNewIds(one)).toBe(withoutNewIds(other)))
})

describe('two answers differ if they differ in', () => {
  it.each([
    ['a count', 'sent, 50 messages left', 'sent, 49 messages left'],
    ['a rest', '{"sent":20,"remaining":40}', '{"sent":20,"remaining":20}'],
    ['a place', 'you are at place 4', 'you are at place 3'],
    ['a number of several', 'ticket 3 of 8', 'ticket 4 of 8'],
    ['a number of several with a sign', '#3 of 8', '#4 of 8'],
    ['a status', '{"id":1,"state":"new"}', '{"id":1,"state":"done"}'],
    ['a code', '{"code":429}', '{"code":200}'],
    ['a word behind a name', 'issue open', 'issue closed'],
  ])('%s', (_, one, other) => expect(withoutNewIds(one)).not.toBe(withoutNewIds(other)))
})

describe('one message under new ids', () => {
  const text = 'The import is finished.'
  const same = (one: object, other: object) =>
    withoutMessageId(one)?.text !== undefined &&
    withoutMessageId(one)?.text === withoutMessageId(other)?.text

  it.each([
    [
      'an idempotency key',
      { title: text, idempotency_key: 'a' },
      { title: text, idempotency_key: 'b' },
    ],
    [
      'the id of a client',
      { channel: 'c', text, client_msg_id: 1 },
      { channel: 'c', text, client_msg_id: 2 },
    ],
    ['the token of a client', { body: text, clientToken: 'a' }, { body: text, clientToken: 'b' }],
    [
      'an id against repetition',
      { message: text, messageDeduplicationId: 'a' },
      { message: text, messageDeduplicationId: 'b' },
    ],
    ['a bare id beside a recipient', { to: 'ann', text, id: 1 }, { to: 'ann', text, id: 2 }],
  ])('is the same under %s', (_, one, other) => expect(same(one, other)).toBe(true))

  it.each([
    ['a bare id without a recipient', { text, id: 1 }, { text, id: 2 }],
    [
      'the id of an object',
      { text, issue_id: 1, request_id: 'a' },
      { text, issue_id: 2, request_id: 'b' },
    ],
    [
      'the id of a client of the shop',
      { text, customer_id: 1, nonce: 1 },
      { text, customer_id: 2, nonce: 2 },
    ],
    [
      'a key without a text',
      { campaign: 'summer sale', request_id: 'a' },
      { campaign: 'summer sale', request_id: 'b' },
    ],
    [
      'a key beside a short word',
      { text: 'free', request_id: 'a' },
      { text: 'free', request_id: 'b' },
    ],
  ])('is another one, or none, under %s', (_, one, other) => expect(same(one, other)).toBe(false))
})
