import { expect, it } from '@jest/globals'
import { inMemory, openIndexFile } from '../../../client/search/index-file.ts'
import { createTurnIndex } from '../../../client/search/turn-index.ts'
import { encode } from '../../../shared/codec/codec.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { keyOf } from '../../../shared/contract/topology.ts'

const origins: Message = { type: 'conversation-forked', conversation: 'fork', origins: [] }
const entry: Message = {
  type: 'history-entry',
  conversation: 'fork',
  turn: 0,
  round: 0,
  user: 'apple',
  contents: [],
  response: null,
  results: [],
  nudge: null,
  note: null,
  redact: [],
  afterTurn: null,
}

it('lists a conversation that begins again after the deletion of its origins in one batch', () => {
  const db = openIndexFile(inMemory, 'a')
  const index = createTurnIndex(db)
  const records = [
    { message: origins, isDeleted: false },
    { message: origins, isDeleted: true },
    { message: entry, isDeleted: false },
  ].map(({ message, isDeleted }, offset) => ({
    ...{ topic: 'history', partition: 0, offset, time: offset + 1, key: keyOf(message) },
    value: isDeleted ? null : encode(message),
  }))
  const from = { next: 0, time: 0, begin: 0 }
  const to = { next: records.length, time: records.length, begin: 0 }
  index.add({ topic: 'history', partition: 0, from, to, records }, new Map())
  const listed = db.prepare(
    'SELECT c.name FROM conversations c JOIN turns t ON t.conversation = c.id',
  )
  expect(listed.all()).toMatchObject([{ name: 'fork' }])
})
