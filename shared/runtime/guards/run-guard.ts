// Runs one guard on a bus: a consumer group of its own over `rounds-cleared`, whose answers go to
// its own topic. As many instances as there are partitions share the work; all run the same code.

import type { Logger } from 'pino'
import type { Assignment, Bus, Subscription } from '../../contract/bus.ts'
import type { Guard } from '../../contract/guard.ts'
import { guardTopicName } from '../../contract/topology.ts'
import { toCommit } from '../position.ts'
import type { GuardInstruments } from './guard-instruments.ts'
import { parseAnswerId, readGuardPartition } from './guard-partition.ts'

export type RunGuardOptions = {
  bus: Bus
  topicPrefix: string
  log: Logger
  instruments?: GuardInstruments | undefined
}

/** Its topic must exist (register.ts). The subscription's `failed` says when it cannot go on. */
export function runGuard(
  guard: Guard,
  { bus, topicPrefix, log, instruments }: RunGuardOptions,
): Promise<Subscription> {
  const ofGuard = log.child({ guard: guard.name })
  const topic = topicPrefix + guardTopicName(guard.name)
  return bus.subscribe({
    group: `${topicPrefix}guard.${guard.name}`,
    topic: `${topicPrefix}rounds-cleared`,
    async assign(assignment) {
      const committed =
        assignment.committed ?? (await answeredSoFar(guard.name, topic, assignment, bus))
      return readGuardPartition({
        guard,
        assignment: { ...assignment, committed },
        topic,
        clock: bus.clock,
        log: ofGuard,
        instruments,
      })
    },
  })
}

/**
 * Where there is no commit, because the bus keeps none or has forgotten it, the answers in the
 * guard's own topic say what is done: they are written in the order of their rounds. What it
 * remembered is folded from all that is left of the log. Undefined: it has answered nothing here.
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
