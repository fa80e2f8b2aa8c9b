// `weir replay` on the topics finds no difference and skips nothing. It is the product's own
// comparison. A false difference or a missed one would appear here, under more faults than in other
// tests. replay-equals-log compares the same with independent code.

import { replayLog } from '../../../../apps/replay/replay-log.ts'
import type { AnyStage } from '../../../../services/reducers.ts'
import type { Bus } from '../../../../shared/contract/bus.ts'
import { topics } from '../../../../shared/contract/topology.ts'
import {
  addressOf,
  type Checker,
  type Evidence,
  type Finding,
  type StoredLog,
} from '../../evidence.ts'

export const weirReplay: Checker<'stored'> = {
  name: 'weir-replay',
  rule: '`weir replay` finds no difference in the log and skips nothing.',
  needs: ['stored'],
  async check(evidence) {
    const { topicPrefix, partitions, stored } = evidence
    const stages = Object.values(stored.stages).map(({ stage }) => stage as AnyStage)
    const log = { bus: readerOf(evidence, stored), topicPrefix, partitions }
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
        problem: `${differences} differences; the first: ${kind}, of ${stage}`,
        at: addressOf(input),
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

function readerOf(
  { topicPrefix, partitions }: Evidence,
  { records }: StoredLog,
): Pick<Bus, 'ends' | 'read'> {
  return {
    async ends(topic) {
      if (!(topic.slice(topicPrefix.length) in topics)) return []
      return Array.from({ length: partitions }, (_, partition) => ({
        partition,
        begin: 0,
        end: records(topic, partition).length,
      }))
    },
    async read({ topic, partition, from, to = Number.POSITIVE_INFINITY, limit }) {
      return records(topic, partition).slice(from, Math.min(to, from + limit))
    },
  }
}
