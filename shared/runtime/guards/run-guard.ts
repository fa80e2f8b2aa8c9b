// Runs one guard on a bus: its own consumer group reads `rounds-cleared` and writes to its own
// topic. Up to one instance a partition shares the work, and all run the same code.

import type { Logger } from 'pino'
import type { Assignment, Bus, Subscription } from '../../contract/bus.ts'
import type { AnyGuard } from '../../contract/guard/guard.ts'
import { limits } from '../../contract/limits.ts'
import { guardTopicName } from '../../contract/topology.ts'
import { createInputEnds } from '../log/input-ends.ts'
import { toCommit } from '../log/position.ts'
import type { GuardInstruments } from './guard-instruments.ts'
import { parseAnswerId, readGuardPartition } from './guard-partition.ts'

export type RunGuardOptions = {
  bus: Bus
  topicPrefix: string
  log: Logger
  instruments?: GuardInstruments | undefined
}

/**
 * Its topic must exist (guard-registry.ts). The subscription's `failed` rejects when it stops. Throws
 * `settings.invalid` if records are signed, and this process cannot check the ends that the guard sees.
 */
export async function runGuard(
  guard: AnyGuard,
  { bus, topicPrefix, log, instruments }: RunGuardOptions,
): Promise<Subscription> {
  const stopping = new AbortController()
  const ofGuard = log.child({ guard: guard.name })
  const topic = topicPrefix + guardTopicName(guard.name)
  const subscription = await bus.subscribe({
    group: `${topicPrefix}guard.${guard.name}`,
    topic: `${topicPrefix}rounds-cleared`,
    // A verdict starts no forged round. A forged end could make a guard allow a genuine one.
    takesUnproved: guard.external === true || guard.seesEnds !== true,
    async assign(assignment) {
      const committed =
        assignment.committed ?? (await answeredSoFar(guard.name, topic, assignment, bus))
      const { partition } = assignment.ends
      const place = { topic: assignment.topic, partition }
      return readGuardPartition({
        guard,
        inputs: createInputEnds({ bus, topicPrefix, ...place, log: ofGuard }),
        assignment: { ...assignment, committed },
        topic,
        clock: bus.clock,
        log: ofGuard,
        instruments,
        stopping: stopping.signal,
      })
    },
  })
  return {
    get joined() {
      return subscription.joined
    },
    get damaged() {
      return subscription.damaged
    },
    failed: subscription.failed,
    async close() {
      // A close waits for running steps, and an external guard may take long.
      const cancelWait = bus.clock.after(limits.guardExternalCloseMs, () => stopping.abort())
      await subscription.close().finally(cancelWait)
    },
  }
}

/**
 * A commit made from the guard's answers, for a bus that keeps no commits or has lost this one.
 * Answers are written in the order of their rounds, so the last one is enough. The memory is folded
 * from the rest of the log. Undefined: the guard has answered nothing here.
 */
async function answeredSoFar(
  guard: string,
  topic: string,
  { ends }: Assignment,
  bus: Bus,
): Promise<Assignment['committed']> {
  const answers = (await bus.ends(topic)).find(({ partition }) => partition === ends.partition)
  if (answers === undefined || answers.end === answers.begin) return undefined
  const [last] = await bus.read({
    topic,
    partition: ends.partition,
    from: answers.end - 1,
    limit: 1,
  })
  const place = last?.id === undefined ? undefined : parseAnswerId(last.id)
  if (place?.guard !== guard || place.partition !== ends.partition || place.offset >= ends.end)
    return undefined
  const done = Math.max(place.offset + 1, ends.begin)
  return toCommit({ done, from: ends.begin, marks: {} })
}
