// Calls a guard that runs in this thread, for rounds of one partition in their order. Each round gets an
// answer or a failure, and its conversation's state is folded into the guard's memory.
// A conversation shares its memory with those that its calls began. So an agent
// cannot escape a limit by a call that asks another agent.

import { setImmediate } from 'node:timers/promises'
import type { Offset } from '../../contract/bus.ts'
import type { Guard, GuardedRound } from '../../contract/guard/guard.ts'
import { type ConversationId, rootOf } from '../../contract/ids.ts'
import { limits } from '../../contract/limits.ts'
import type { Clock, Milliseconds } from '../../lib/clock.ts'
import { thrownText } from '../../lib/error-place.ts'
import type { Marks } from '../derived-id.ts'
import { applyEndRecord, type EndRecord, follow } from './call-ends.ts'
import type { GuardMemory } from './guard-memory.ts'
import { type Answered, answeredBy, failedAnswer } from './judgement.ts'
import type { WithinLimit } from './time-limit.ts'

/** A record of the inbox that tells how a call ended. */
export type EndJob = { record: { time: Milliseconds }; message: EndRecord }

/** The runtime fills in `answered` and `judgedMs`. `message`: for a guard that sees ends. */
export type FoldedJob = {
  record: { offset: Offset; time: Milliseconds }
  message?: EndRecord
  round: GuardedRound
  /** The conversation that this one was forked from. Null: it is no fork. */
  forkedFrom: ConversationId | null
  /** The marks before the record. */
  marks: Marks
  answered?: Answered
  judgedMs: Milliseconds
}

type Place = { clock: Clock; within: WithinLimit; memory: GuardMemory }

/**
 * Judges all rounds within one time limit. A round that exceeds it is denied, and the others get a
 * new limit.
 */
export async function judgeInOrder(
  guard: Guard,
  jobs: readonly (FoldedJob | EndJob)[],
  place: Place,
): Promise<void> {
  const { clock, within } = place
  let next = 0
  let againAt: number | undefined
  while (next < jobs.length) {
    const first = next
    if (next > 0) await setImmediate() // lets the Kafka client send its heartbeats
    const began = clock.monotonic()
    const used = process.cpuUsage()
    const isWithin = within(() => {
      for (; next < jobs.length; next += 1) {
        if (clock.monotonic() - began > limits.guardJudgeMsMax / 2) return
        const job = jobs[next] as FoldedJob | EndJob
        applyEnds(guard, job, place)
        if ('round' in job) judgeOne(guard, job, place)
      }
    }, limits.guardJudgeMsMax)
    // A round that was stopped after others has not had all of its time. It gets a new limit.
    if (isWithin || next > first) continue
    // The same if the process stood still because the machine was busy.
    const { user, system } = process.cpuUsage(used)
    if (againAt !== next && (user + system) / 1000 < limits.guardJudgeMsMax / 2) {
      againAt = next
      continue
    }
    const stuck = jobs[next] as FoldedJob // an end takes no time
    stuck.answered = failedAnswer(
      stuck.round.calls,
      'guard.stuck',
      `judge took longer than ${limits.guardJudgeMsMax} ms`,
    )
    next += 1
  }
}

function applyEnds(guard: Guard, { record, message }: FoldedJob | EndJob, { memory }: Place): void {
  const ends = message && memory.endsOf(rootOf(message.conversation))
  if (ends !== undefined)
    applyEndRecord(ends, message as EndRecord, { own: guard.name, time: record.time })
}

function judgeOne(guard: Guard, job: FoldedJob, { clock, memory }: Place): void {
  const { record, forkedFrom } = job
  const began = clock.monotonic()
  const root = rootOf(job.round.conversation)
  if (forkedFrom !== null) memory.fork(root, rootOf(forkedFrom), record.time)
  const state = memory.get(root)
  const ends = memory.endsOf(root)
  const round = ends === undefined ? job.round : { ...job.round, ended: [...ends.ended] }
  job.answered = answerOf(guard, state === undefined ? undefined : JSON.parse(state), round)
  job.judgedMs = Math.max(0, clock.monotonic() - began)
  if (job.answered.fault !== undefined) return
  ends?.ended.splice(0)
  memory.set(root, job.answered.state, {
    offset: record.offset,
    time: record.time,
    marks: job.marks,
    isFork: forkedFrom !== null,
  })
  const known = memory.endsOf(root)
  if (known !== undefined) follow(known, round, job.answered.verdicts)
}

function answerOf(guard: Guard, state: unknown, round: GuardedRound): Answered {
  try {
    // A copy: the answer is checked against the round, so the guard must not change it.
    return answeredBy(guard.judge(state, structuredClone(round)), round)
  } catch (error) {
    const fault = `judge threw: ${thrownText(error, import.meta.url)}`
    return failedAnswer(round.calls, 'guard.threw', fault)
  }
}
