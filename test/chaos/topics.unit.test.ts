// The reader of whole topics, next to a broker that restarts.

import { expect, it } from '@jest/globals'
import kafkajs from 'kafkajs'
import { offsetsOf } from './topics.ts'

const offsets = [{ partition: 0, offset: '7', high: '7', low: '0' }]

/** An admin whose requests fail with these errors, and then succeed. */
const failing = (...errors: Error[]) => ({
  async fetchTopicOffsets() {
    const error = errors.shift()
    if (error !== undefined) throw error
    return offsets
  },
})

it('the ends of a topic wait for a leader, and other errors fail', async () => {
  const answer = { type: 'NOT_LEADER_FOR_PARTITION', code: 6, retriable: true }
  const noLeader = new kafkajs.KafkaJSProtocolError(Object.assign(new Error('no'), answer))
  expect(await offsetsOf(failing(noLeader, noLeader), 'topic')).toEqual(offsets)
  await expect(offsetsOf(failing(new Error('refused')), 'topic')).rejects.toThrow('refused')
})
