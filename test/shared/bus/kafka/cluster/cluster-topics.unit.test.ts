// The metadata of topics, and the growth of one under a running process.

import { describe, expect, it } from '@jest/globals'
import { createClusterTopics } from '../../../../../shared/bus/kafka/cluster/cluster-topics.ts'

const node = { id: 1, host: 'h', port: 1 }

function topics() {
  const known = createClusterTopics()
  return {
    known,
    apply(topic: string, partitions: number, id: string | undefined = 'id', errorCode = 0) {
      const found = Array.from({ length: partitions }, (_, partition) => ({
        errorCode: 0,
        partition,
        leader: 1,
      }))
      known.apply({ nodes: [node], topics: [{ topic, id, errorCode, partitions: found }] }, [topic])
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
    apply('a', 4, undefined)
    apply('a', 5, undefined)
    expect(known.resized).toEqual({ name: 'a', was: 4, is: 5 })
  })
})
