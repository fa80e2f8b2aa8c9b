import { describe, expect, it } from '@jest/globals'
import {
  calledConversation,
  formerConversation,
} from '../../../../shared/contract/call/called-conversation.ts'
import { callOfConversation, rootOf } from '../../../../shared/contract/ids.ts'
import { partitionOf } from '../../../../shared/contract/partition.ts'

describe('the conversation of an agent that a call asks', () => {
  it('has the partition of its caller, the same at each start, and names its callers', () => {
    for (const partitions of [1, 2, 4, 7, 64])
      for (let turn = 0; turn < 20; turn += 1) {
        const call = { conversation: `acme:c-${turn}`, turn, round: 1, ordinal: 2 }
        const id = calledConversation(call, partitions)
        const deeper = calledConversation({ ...call, conversation: id }, partitions)
        const places = [call.conversation, id, deeper].map((one) => partitionOf(one, partitions))
        expect(new Set(places).size).toBe(1)
        expect(calledConversation(call, partitions)).toBe(id)
        expect(callOfConversation(id)).toEqual(call)
        expect(rootOf(deeper)).toBe(call.conversation)
      }
  })

  it('has its former id in format 1: the call, or a hash above 256 bytes', () => {
    const call = { conversation: 'acme:c', turn: 3, round: 1, ordinal: 0 }
    expect(formerConversation(call)).toBe('call/acme:c/3/1/0')
    const long = { ...call, conversation: `acme:${'c'.repeat(250)}` }
    expect(formerConversation(long)).toMatch(/^call\/acme:[0-9a-f]{64}$/)
  })
})
