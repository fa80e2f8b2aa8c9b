// One partition of `rounds-cleared` as a guard reads it. Each round in which the guard is in force
// becomes one record in the guard's topic.
// The answers depend only on the log. The guard's state of a conversation is
// folded from its rounds in order, and folded again after a restart (R1).
// The id of an answer is made of the round's position. So a round that is judged
// again, on any instance, gives the same record, and the first one counts.
// A guard's function may throw, loop for ever or answer nonsense. The round
// still gets an answer, and the next round is judged (R6, R8).
// An external guard is called only for rounds without an answer, so a restart
// folds nothing again. It has no state, and its recorded answer is the only one.

import type { Logger } from 'pino'
import { decode, encodeInForce } from '../../codec/codec.ts'
import type {
  Assignment,
  Offset,
  PartitionReader,
  RecordToAppend,
  StoredRecord,
} from '../../contract/bus.ts'
import type { AnyGuard } from '../../contract/guard/guard.ts'
import { limits } from '../../contract/limits.ts'
import type { GuardInForce, GuardVerdict } from '../../contract/messages.ts'
import type { Clock, Milliseconds } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { isRepeat, moveMark, parseId, type ReadId } from '../derived-id.ts'
import type { InputEnds } from '../log/input-ends.ts'
import { type Position, positionAt, toCommit } from '../log/position.ts'
import { createRefusals } from '../log/refusals.ts'
import { isEndRecord } from './call-ends.ts'
import { judgeExternally } from './external-judgement.ts'
import { type EndJob, type FoldedJob, judgeInOrder } from './folded-judgement.ts'
import type { GuardInstruments } from './guard-instruments.ts'
import { createGuardMemory } from './guard-memory.ts'
import { guardedRoundOf } from './guarded-round.ts'
import { failedAnswer } from './judgement.ts'
import { createTimeLimit, type WithinLimit } from './time-limit.ts'
import { modeFor } from './tool-pattern.ts'

export type GuardPartitionOptions = {
  guard: AnyGuard
  assignment: Assignment
  /** Default: no id of a round is checked against its input. */
  inputs?: InputEnds | undefined
  /** The guard's topic, with the deployment's prefix. */
  topic: string
  clock: Clock
  /** Default: a limit of V8. */
  within?: WithinLimit
  log: Logger
  instruments?: GuardInstruments | undefined
  /** Aborts when the guard stops. Then the open calls of an external guard get no answer. */
  stopping?: AbortSignal
}

type Job = FoldedJob & { record: StoredRecord; inForce: GuardInForce }
type FollowedEnd = EndJob & { record: StoredRecord }

export function readGuardPartition({
  guard,
  assignment,
  inputs,
  topic,
  clock,
  within = createTimeLimit(),
  log,
  instruments,
  stopping = new AbortController().signal,
}: GuardPartitionOptions): PartitionReader {
  const { partition, begin, end } = assignment.ends
  const start = startOf(assignment, log)
  const seesEnds = !guard.external && guard.seesEnds === true
  const memory = createGuardMemory(seesEnds)
  const stateKeptMs = (guard.external ? undefined : guard.stateKeptMs) ?? limits.guardStateKeptMs
  const marks = { ...start.marks }
  const refusals = createRefusals({
    judge: ({ refused }, id) =>
      refused === undefined
        ? id && inputs?.refusalOf(id)
        : new WeirError('record.unsigned', refused),
    judged: { to: start.done, refused: start.refused },
  })
  let position = start.from
  let newest: Milliseconds = 0
  let step: { read: readonly StoredRecord[]; answers: readonly GuardVerdict[] } = {
    read: [],
    answers: [],
  }
  const instrument = instruments?.assigned({
    guard: guard.name,
    topic: assignment.topic,
    partition,
    from: start.from,
    done: start.done,
    end,
    hasCaughtUp: () => position >= end,
  })

  return {
    position: start.from,

    async read(records) {
      if ((await inputs?.lookUp(records)) === 'closed') return { outputs: [], commit: undefined }
      const jobs = records.flatMap((record) => jobOf(record) ?? [])
      const rounds = jobs.filter((job) => 'round' in job)
      const judged = guard.external ? rounds.filter(isUnanswered) : rounds
      if (guard.external) await judgeExternally(guard, judged, { clock, within, stopping })
      else await judgeInOrder(guard, jobs, { clock, within, memory })
      if (guard.external && stopping.aborted) {
        step = { read: [], answers: [] }
        return { outputs: [], commit: undefined }
      }
      position = (records.at(-1)?.offset ?? position - 1) + 1
      memory.forgetBefore(newest - stateKeptMs)
      const answered = judged.filter(isUnanswered)
      const answers = answered.map((job) => answerOf(job, { guard, clock, log }))
      step = { read: records, answers }
      const outputs = answers.map((answer, at) => outputOf(answer, answered[at] as Job))
      return { outputs, commit: position < start.done ? undefined : toCommit(positionNow()) }
    },

    acknowledged() {
      instrument?.acknowledged(step)
    },
    passed(at) {
      position = Math.max(position, at)
    },
    async close() {
      inputs?.close()
      instrument?.closed()
    },
  }

  /**
   * Undefined: nothing for this guard, or a repeat. The executor reports records that cannot be
   * decoded.
   */
  function jobOf(record: StoredRecord): Job | FollowedEnd | undefined {
    newest = Math.max(newest, record.time)
    const id = parseId(record.id)
    if (id?.stage !== 'loop-detector') return seesEnds ? endIn(record, id) : undefined
    if (isRepeat(marks, id) || record.value === null) return undefined
    // A forged id must hide no round. The executor reports such a record.
    if (refusals.refusalOf(record, id) !== undefined) return undefined
    const before = { ...marks }
    try {
      const message = decode(record.value)
      if (message.type !== 'round-cleared' || message.conversation !== record.key) return undefined
      moveMark(marks, id)
      const guarded = guardedRoundOf(message, guard.name, record.time)
      const end = seesEnds ? { record, message } : undefined
      return guarded ? { record, ...end, ...guarded, marks: before, judgedMs: 0 } : end
    } catch {
      return undefined
    }
  }

  function endIn(record: StoredRecord, id: ReadId | undefined): FollowedEnd | undefined {
    if (refusals.refusalOf(record, id) !== undefined) return undefined
    try {
      const message = record.value === null ? undefined : decode(record.value)
      if (message === undefined || !isEndRecord(message) || message.type === 'round-cleared')
        return undefined
      return message.conversation === record.key ? { record, message } : undefined
    } catch {
      return undefined
    }
  }

  function isUnanswered({ record }: Job): boolean {
    return record.offset >= start.done
  }

  function outputOf(answer: GuardVerdict, { record }: Job): RecordToAppend {
    return {
      topic,
      partition,
      key: answer.conversation,
      value: encodeInForce(answer),
      id: answerId({ guard: guard.name, partition, offset: record.offset }),
    }
  }

  function positionNow(): Position {
    const oldest = memory.oldest()
    // Rounds that retention has deleted meanwhile cannot be folded again. The later ones must do.
    const from = oldest === undefined ? position : Math.max(oldest.first, begin)
    refusals.forgetBefore(from)
    const marksThere = oldest?.marksAtFirst ?? { ...marks }
    return { done: position, from, marks: marksThere, refused: refusals.since(from) }
  }
}

function answerOf(
  { record, round, inForce, answered, judgedMs }: Job,
  { guard, clock, log }: Pick<GuardPartitionOptions, 'guard' | 'clock' | 'log'>,
): GuardVerdict {
  const { conversation, turn } = round
  const { verdicts, fault } =
    answered ?? failedAnswer(round.calls, 'guard.stuck', 'it was not judged')
  if (fault !== undefined) {
    const isLate = clock.now() >= record.time + inForce.deadlineMs
    log.error(
      { conversation, turn, round: round.round, fault },
      isLate && inForce.onTimeout === 'allow'
        ? 'the guard failed on a round after its deadline; onTimeout allows its calls'
        : 'the guard failed on a round; its calls are denied',
    )
  }
  return {
    type: 'guard-verdict',
    conversation,
    turn,
    round: round.round,
    guard: guard.name,
    version: guard.version,
    verdicts,
    intervention: answered?.fault === undefined ? (answered?.intervention ?? null) : null,
    clearedAt: record.time,
    judgedMs,
    enforces: round.calls
      .filter(({ name }) => modeFor(inForce, name) === 'enforce')
      .map(({ ordinal }) => ordinal),
    deadlineMs: inForce.deadlineMs,
  }
}

type AnswerPlace = { guard: string; partition: number; offset: Offset }

export function answerId({ guard, partition, offset }: AnswerPlace): string {
  return `guard.${guard}/${partition}/${offset}/0`
}

/** The position of the round that a record with this id answers. Undefined: not such an id. */
export function parseAnswerId(id: string): AnswerPlace | undefined {
  const [, guard, partition, offset] =
    /^guard\.([a-z0-9-]+)\/(\d{1,9})\/(\d{1,15})\/0$/.exec(id) ?? []
  return guard === undefined
    ? undefined
    : { guard, partition: Number(partition), offset: Number(offset) }
}

/**
 * A guard starts as the stages do, but accepts deleted rounds. If retention has deleted a
 * conversation's first rounds, the guard knows only the later ones. A commit beyond the log's end
 * is still an error, because then the topic was recreated.
 */
function startOf(assignment: Assignment, log: Logger): Position {
  const { begin } = assignment.ends
  const { committed } = assignment
  if (committed === undefined || committed.metadata === '')
    return {
      done: committed?.offset ?? begin,
      from: Math.max(begin, committed?.offset ?? begin),
      marks: {},
    }
  const { ends } = assignment
  const found = positionAt({ ...assignment, ends: { ...ends, begin: 0 } })
  if (found.from >= begin) return found
  log.warn(
    { partition: ends.partition, from: found.from, begin },
    'the log no longer holds all rounds that the guard knew; it continues with the rest',
  )
  return { done: Math.max(found.done, begin), from: begin, marks: {} }
}
