// The metadata of topics, and the growth of one under a running process.

import { describe, expect, it } from '@jest/globals'
import type { TopicNeed } from '../../../../../shared/bus/fleet/needed-topics.ts'
import { createClusterTopics } from '../../../../../shared/bus/kafka/cluster/cluster-topics.ts'

const node = { id: 1, host: 'h', port: 1 }

function topics() {
  const needs = new Map<string, TopicNeed>()
  const known = createClusterTopics((name) => needs.get(name) ?? 'always')
  return {
    known,
    needs,
    apply(topic: string, partitions: number, id: string | null = 'id', errorCode = 0) {
      const found = Array.from({ length: partitions }, (_, partition) => ({
        errorCode: 0,
        partition,
        leader: 1,
      }))
      known.apply(
        { nodes: [node], topics: [{ topic, id: id ?? undefined, errorCode, partitions: found }] },
        [topic],
      )
    },
  }
}

describe('a topic', () => {
  it('that has more partitions than before has grown, and the first such topic is reported', () => {
    const { known, apply } = topics()
    apply('a', 4)
    apply('b', 4)
    apply('a', 4)
    expect(known.resized).toBeUndefined()
    apply('b', 6)
    apply('a', 8)
    expect(known.resized).toEqual({ name: 'b', was: 4, is: 6 })
  })

  it('that was created again with more partitions has not grown: its readers notice the other id', () => {
    const { known, apply } = topics()
    apply('a', 4, 'one')
    apply('a', 6, 'two')
    expect(known.resized).toBeUndefined()
  })

  it('that is unknown for a moment, or lists fewer partitions, has not grown', () => {
    const { known, apply } = topics()
    apply('a', 4)
    apply('a', 3)
    apply('a', 4)
    apply('a', 0, 'id', 5)
    apply('a', 4)
    expect(known.resized).toBeUndefined()
    apply('a', 0, 'id', 5)
    apply('a', 5)
    expect(known.resized).toEqual({ name: 'a', was: 4, is: 5 })
  })

  it('has grown also on brokers without ids', () => {
    const { known, apply } = topics()
    apply('a', 4, null)
    apply('a', 5, null)
    expect(known.resized).toEqual({ name: 'a', was: 4, is: 5 })
  })

  it('that is gone is missing only while the configuration needs the topic', () => {
    const { known, needs, apply } = topics()
    const unknownTopic = 3
    apply('a', 1)
    apply('b', 1)
    apply('a', 0, 'id', unknownTopic)
    expect(known.missing).toBe('a')
    needs.set('a', 'none')
    expect(known.missing).toBeUndefined()
    apply('b', 0, 'id', unknownTopic)
    expect(known.missing).toBe('b')
  })

  it('that was created again is recognised by its id, also after a time without the topic', () => {
    const { known, apply } = topics()
    apply('a', 1, 'one')
    apply('b', 1, null)
    apply('a', 0, null, 3)
    expect(known.recreated).toBeUndefined()
    apply('a', 1, 'two')
    apply('b', 1, 'one')
    expect([known.recreated, known.wasRecreated('a'), known.wasRecreated('b')]).toEqual([
      'a',
      true,
      false,
    ])
  })

  it('of a guard that somebody removed, deleted and registered again is ready', () => {
    const { known, needs, apply } = topics()
    needs.set('bank', 'while-registered')
    apply('bank', 1, 'one')
    needs.set('bank', 'none')
    apply('bank', 0, null, 3)
    expect([known.missing, known.recreated]).toEqual([undefined, undefined])
    needs.set('bank', 'while-registered')
    apply('bank', 1, 'two')
    expect([known.missing, known.recreated, known.wasRecreated('bank')]).toEqual([
      undefined,
      undefined,
      true,
    ])
  })
})
