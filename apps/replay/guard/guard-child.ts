// Runs a guard's file in a sandbox (guard-launch.ts), away from the replay. The production code reads
// the rounds (shared/runtime/guards/guard-partition.ts).
// It reads its packages only while it loads, if Node can take that right back.
// Each question gets one answer, a line under its number. The replay bounds and checks
// each line (guard-answer.ts).
// A pipe names the current round before the guard sees it, because a dead process
// cannot answer.
// Each round is judged at two moments (moment.ts), each with a separate memory. An
// answer that differs is not trusted.

import { writeSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'
import os from 'node:os'
import { pino } from 'pino'
import { loadGuard } from '../../../client/guards/load-guard.ts'
import type { PartitionReader } from '../../../shared/contract/bus.ts'
import type { AnyGuard, Guard, GuardedRound } from '../../../shared/contract/guard/guard.ts'
import { roundKey } from '../../../shared/contract/ids.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import {
  parseAnswerId,
  readGuardPartition,
} from '../../../shared/runtime/guards/guard-partition.ts'
import { messageLines } from '../../../shared/tools/message-lines.ts'
import { fickleRound } from './fickle-round.ts'
import type { Answer, AnsweredRound, LoadedGuard } from './guard-answer.ts'
import { answerLine, type Question, questionIn } from './guard-lines.ts'
import { holdMoments, type Moment, moments } from './moment.ts'

/** The descriptors of the pipe with the lines, and of the pipe that names the current round. */
const linePipe = 3
const roundPipe = 4

// Throws if the replay ended before bubblewrap tied the sandbox to the replay's life.
writeSync(roundPipe, '\n')
for (const name of Object.keys(process.env)) delete process.env[name] // a sandbox sets PWD

const silent = pino({ level: 'silent' })
/** Each partition has one reader for each moment. */
const readers = new Map<number, PartitionReader[]>()
let guard: AnyGuard | undefined

const channel = new Socket({ fd: linePipe, readable: true, writable: true })
channel.on('error', () => {}) // the replay has ended
for (const name of ['_getActiveHandles', '_getActiveRequests'])
  Object.defineProperty(process, name, { value: () => [] })
os.hostname = () => 'replay' // the same on all machines
const atMoment = holdMoments()
syncBuiltinESMExports()

const readLines = messageLines(Number.POSITIVE_INFINITY, { onLine, onTooLong() {} })
channel.on('data', readLines)

function onLine(line: string): void {
  const { number, ...question } = questionIn(line)
  const answered = (answer: Answer): void => void channel.write(answerLine(number, answer))
  answerTo(question as Question).then(answered, (error: unknown) => {
    answered({ kind: 'failed', reason: messageOf(error) })
  })
}

async function answerTo(question: Question): Promise<Answer> {
  switch (question.kind) {
    case 'load': {
      guard = await loadGuard(question.file, question.options)
      dropReading()
      const { name, version, tools, deadlineMs, onTimeout, external = false } = guard
      return {
        kind: 'loaded',
        guard: { name, version, tools, deadlineMs, onTimeout, external } satisfies LoadedGuard,
      }
    }
    case 'judge': {
      const answers: AnsweredRound[][] = []
      for (const reader of readersOf(question.partition)) {
        const { outputs } = await reader.read(question.records)
        answers.push(outputs.flatMap(({ id = '', value }) => roundIn(id, value)))
      }
      const [rounds = [], again = []] = answers
      const fickle = fickleRound(rounds, again)
      return fickle === undefined ? { kind: 'judged', rounds } : { kind: 'fickle', reason: fickle }
    }
    default:
      return question satisfies never
  }
}

/** Does nothing if this Node.js version lacks it. */
function dropReading(): void {
  const { permission } = process as { permission?: { drop?: (name: string) => void } }
  permission?.drop?.('fs.read')
}

function noting(loaded: Guard, momentOf: (round: GuardedRound) => Moment): Guard {
  const { name, version, tools, deadlineMs, onTimeout, stateKeptMs, seesEnds = false } = loaded
  return {
    name,
    version,
    tools,
    deadlineMs,
    onTimeout,
    ...(stateKeptMs !== undefined && { stateKeptMs }),
    seesEnds,
    judge(state, round) {
      note(round)
      try {
        return atMoment(momentOf(round), () => loaded.judge(state, round))
      } catch (error) {
        throw new Error(messageOf(error), { cause: error })
      }
    },
  }
}

/**
 * Node.js describes a missing permission to the person who starts the process. A guard's author
 * needs another text.
 */
function messageOf(error: unknown): string {
  const { message, cause = error } = error instanceof Error ? error : { message: String(error) }
  const { code, permission, resource } = cause as {
    code?: unknown
    permission?: unknown
    resource?: unknown
  }
  const readable =
    'only its package (the folder of its package.json, or its own folder if there is none) and node_modules, and only while it is loaded'
  // A sandbox shows no other file.
  if (code === 'ERR_MODULE_NOT_FOUND') return `${message}. A guard in a replay may read ${readable}`
  if (code !== 'ERR_ACCESS_DENIED') return message
  const request =
    permission === 'FileSystemRead'
      ? 'reads'
      : `requests ${permission || 'a resource that Node.js withholds'}`
  const denied = resource ? `${request} ${resource}` : request
  const before = message.replace(/:?\s*(?:Access to this API has been restricted.*)?$/s, '')
  return `${before === '' ? '' : `${before}: `}it ${denied}, which a guard in a replay must not: it may read ${readable}`
}

function note(round: GuardedRound): void {
  try {
    writeSync(roundPipe, `${roundKey(round)}\n`)
  } catch {
    // The pipe is full, so an error will name an earlier round.
  }
}

function readersOf(partition: number): PartitionReader[] {
  const known = readers.get(partition)
  if (known !== undefined) return known
  if (guard === undefined) throw new Error('no guard is loaded')
  if (guard.external) throw new Error('an external guard is not called in a replay')
  const loaded = guard
  const assignment = {
    topic: 'rounds-cleared',
    ends: { partition, begin: 0, end: 0 },
    committed: undefined,
  }
  const ofMoments = moments.map((momentOf) =>
    readGuardPartition({
      guard: noting(loaded, momentOf),
      assignment,
      topic: 'verdicts',
      clock: systemClock,
      log: silent,
    }),
  )
  readers.set(partition, ofMoments)
  return ofMoments
}

function roundIn(id: string, verdict: Uint8Array | null): AnsweredRound[] {
  const place = parseAnswerId(id)
  return place === undefined || verdict === null ? [] : [{ offset: place.offset, verdict }]
}
