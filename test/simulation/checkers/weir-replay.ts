// `weir replay` on the topics finds no difference and skips nothing. It is the product's own
// comparison. A false difference or a missed one would appear here, under more faults than in other
// tests. replay-equals-log compares the same with independent code.

import { replayLog } from '../../../apps/replay/replay-log.ts'
import type { AnyStage } from '../../../services/reducers.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { type TopicName, topics } from '../../../shared/contract/topology.ts'
import type { Checker, Evidence, Finding } from '../evidence.ts'

export function weirReplay(real: Record<string, { stage: unknown }>): Checker {
  return {
    name: 'weir-replay',
    async check(evidence) {
      const { topicPrefix, partitions } = evidence
      const stages = Object.values(real).map(({ stage }) => stage as AnyStage)
      const log = { bus: readerOf(evidence), topicPrefix, partitions }
      const { tally, differences, first } = await replayLog({
        log,
        stages,
        since: undefined,
        until: undefined,
        grows: false,
        now: 0,
      })
      const findings: Finding[] = []
      if (first !== undefined) {
        const { kind, stage, input } = first
        findings.push({
          problem: `${differences} differences; the first: ${kind}, of ${stage} for ${input.topic}/${input.partition}/${input.offset}`,
          conversation: first.inputRecord?.key,
        })
      }
      const { awaited, deleted, unjudged } = tally
      if (awaited + deleted + unjudged > 0)
        findings.push({
          problem: `${awaited} records were awaited, ${deleted} deleted, ${unjudged} not judged, in a whole and idle log`,
        })
      return findings
    },
  }
}

function readerOf({ of, topicPrefix, partitions }: Evidence): Pick<Bus, 'ends' | 'read'> {
  const recordsOf = (topic: string, partition: number) =>
    of(topic.slice(topicPrefix.length) as TopicName, partition)
  return {
    async ends(topic) {
      if (!(topic.slice(topicPrefix.length) in topics)) return []
      return Array.from({ length: partitions }, (_, partition) => ({
        partition,
        begin: 0,
        end: recordsOf(topic, partition).length,
      }))
    },
    async read({ topic, partition, from, to = Number.POSITIVE_INFINITY, limit }) {
      return recordsOf(topic, partition)
        .slice(from, Math.min(to, from + limit))
        .map(({ record }) => record)
    },
  }
}
