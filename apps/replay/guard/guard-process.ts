// Controls the process of a guard (guard-child.ts) from the replay. It sends one question at a
// time, and ends a process that does not answer correctly. One process judges all rounds of a what-if.

import type { Socket } from 'node:net'
import { resolve as resolvePath } from 'node:path'
import { namedGuard } from '../../../client/guards/guard-file.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { RoundId } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import type { Found } from '../../../shared/lib/sandbox/backend.ts'
import { messageLines } from '../../../shared/tools/message-lines.ts'
import { printable } from '../../terminal/text/printable.ts'
import { type Answer, answerIn, type Judged, type LoadedGuard, verdictsIn } from './guard-answer.ts'
import { startGuardChild } from './guard-launch.ts'
import { answerBytesMax, type Question, questionLine } from './guard-lines.ts'
import { moments } from './moment.ts'
import { guardChild, readableFolders, withWholePaths } from './readable-folders.ts'

export type GuardProcess = {
  readonly guard: LoadedGuard
  /**
   * Records of rounds-cleared, in order. Throws `guard.invalid` with the round if the guard threw,
   * exceeded its time or sent no valid answer.
   */
  judge(partition: number, records: readonly StoredRecord[]): Promise<Judged[]>
  /** The rounds so far for which the log has no verdict. Only of an external guard. */
  unrecorded?(): number
  close(): void
}

/** Time to start a process and import a module, also on a busy machine. */
const loadingMsMax: Milliseconds = 30_000
/**
 * The number of rounds in one batch, each with the same time as in production. The first batches
 * are small, because most faults occur at once.
 */
const roundsMax = 64
const faultCodes = new Set(['guard.threw', 'guard.stuck', 'guard.unusable'])

/** `found`: another sandbox than that of this machine. */
export type GuardProcessOptions = { loadMsMax?: Milliseconds; found?: Found | undefined }

/** `given`: the value of --guard. Throws `guard.invalid`, `sandbox.unavailable`, `usage`. */
export async function startGuardProcess(
  given: string,
  { loadMsMax = loadingMsMax, found }: GuardProcessOptions = {},
): Promise<GuardProcess> {
  const { file, options: asGiven } = namedGuard(given)
  const { options, files } = withWholePaths(asGiven)
  const named = { file: resolvePath(file), options } // its process starts in another folder
  const folders = readableFolders(named.file)
  const flags = [
    ...['--permission', ...[...folders, ...files].map((path) => `--allow-fs-read=${path}`)],
    '--no-warnings',
    `--max-old-space-size=${limits.moduleHeapMiBMax}`,
  ]
  const reads = { folders, files }
  const child = startGuardChild([process.execPath, ...flags, guardChild], reads, found)
  const errors = endOf(child.stderr)
  const rounds = endOf(child.stdio[4])
  let questions = 0
  /** Gets the line that answers the open question. */
  let onAnswer: ((line: string) => void) | undefined
  let hasStrayed = false
  let batch = 1
  let notStarted: string | undefined
  let over: [code: number | null, signal: string | null] | undefined
  const channel = child.stdio[3] as Socket | undefined
  const readLines = messageLines(answerBytesMax, {
    onLine(line) {
      if (onAnswer === undefined) stray()
      else onAnswer(line)
    },
    onTooLong: stray,
  })
  channel?.on('error', () => {}) // `close` follows
  channel?.on('data', readLines)
  child.on('close', (code, signal) => {
    over = [code, signal]
  })
  child.on('error', (error) => {
    notStarted = error.message // `close` follows
  })

  const loaded = await ask({ kind: 'load', ...named }, loadMsMax, () => 'loading it')
  if (loaded.kind === 'loaded') return { guard: loaded.guard, judge, close }
  throw notLoaded(loaded)

  async function judge(partition: number, records: readonly StoredRecord[]): Promise<Judged[]> {
    const all: Judged[] = []
    for (let first = 0; first < records.length; ) {
      const some = records.slice(first, first + batch)
      const answer = await ask(
        { kind: 'judge', partition, records: some },
        some.length * moments.length * limits.guardJudgeMsMax + loadMsMax,
        judging,
      )
      if (answer.kind === 'fickle') throw invalid(printable(answer.reason))
      if (answer.kind === 'failed')
        throw invalid(`it failed while ${judging()}: ${printable(answer.reason)}`)
      const judged = answer.kind === 'judged' ? verdictsIn(answer.rounds, some) : undefined
      if (judged === undefined) throw invalid(invalidAnswer(judging()))
      for (const one of judged) all.push(usable(one))
      first += some.length
      batch = Math.min(batch * 2, roundsMax)
    }
    return all
  }

  /** `doing`: the current work, for an error. */
  function ask(question: Question, msMax: Milliseconds, doing: () => string): Promise<Answer> {
    questions += 1
    const number = questions
    return new Promise<Answer>((resolve, reject) => {
      if (hasStrayed) return reject(invalid(invalidAnswer(doing())))
      // it ended between two questions, perhaps by a timer
      if (over !== undefined) return reject(invalid(ended(doing(), ...over)))
      const timer = setTimeout(() => {
        settle(() =>
          reject(invalid(`${doing()} exceeded ${msMax / 1000} s and was stopped: does it loop?`)),
        )
        close()
      }, msMax)
      const onLine = (line: string) => {
        const answer = hasStrayed ? undefined : answerIn(line, number)
        settle(() =>
          answer === undefined ? reject(invalid(invalidAnswer(doing()))) : resolve(answer),
        )
      }
      // Not `exit`: the pipes may still hold output then.
      const onClose = (code: number | null, signal: string | null) =>
        settle(() => reject(invalid(ended(doing(), code, signal))))
      function settle(end: () => void): void {
        clearTimeout(timer)
        child.off('close', onClose)
        onAnswer = undefined
        end()
      }
      onAnswer = onLine
      child.on('close', onClose)
      if (channel?.writable) channel.write(questionLine(number, question))
    })
  }

  /** A line without a question, or one without an end. */
  function stray(): void {
    hasStrayed = true
    onAnswer?.('')
    channel?.destroy()
    close()
  }

  function judging(): string {
    const round = lastRoundIn(rounds())
    return round === undefined ? 'judging' : `judging ${round}`
  }

  function ended(doing: string, code: number | null, signal: string | null): string {
    const lines = errors().split('\n')
    const why = notStarted ?? lines.find((line) => /error|denied/i.test(line)) ?? ''
    return `its process ended while ${doing} (${signal ?? `exit code ${code}`})${why === '' ? '' : `: ${printable(why.trim())}`}`
  }

  function notLoaded(answer: Answer): WeirError {
    close()
    const reason = answer.kind === 'failed' ? answer.reason : invalidAnswer('loading it')
    const inFile = `${named.file}: `
    return invalid(reason.startsWith(inFile) ? reason.slice(inFile.length) : reason)
  }

  function usable(judged: Judged): Judged {
    const fault = judged.verdict.verdicts.find(({ code }) => faultCodes.has(code))
    if (fault === undefined) return judged
    throw invalid(
      `it fails on ${roundText(judged.verdict)}: ${printable(fault.evidence ?? fault.code)}. ` +
        'Where it enforces, its calls would be denied',
    )
  }

  function invalid(what: string): WeirError {
    return new WeirError('guard.invalid', `${given}: ${what}`)
  }

  function close(): void {
    child.kill('SIGKILL')
  }
}

function invalidAnswer(doing: string): string {
  return `its process sent an invalid answer while ${doing}: a guard answers only with the result of judge, and sends nothing itself`
}

const keptChars = 4_000

/** The last characters of a stream. */
function endOf(stream: unknown): () => string {
  let text = ''
  ;(stream as NodeJS.ReadableStream).on('data', (more) => {
    text = `${text}${more}`.slice(-keptChars)
  })
  return () => text
}

/** The last whole line, which names a round. Undefined: there is none. */
function lastRoundIn(lines: string): string | undefined {
  try {
    const [conversation, turn, round] = JSON.parse(lines.split('\n').at(-2) ?? '') as unknown[]
    return roundText({
      conversation: String(conversation),
      turn: Number(turn),
      round: Number(round),
    })
  } catch {
    return undefined
  }
}

function roundText({ conversation, turn, round }: RoundId): string {
  return `round ${round} of the turn at offset ${turn} of conversation ${printable(conversation)}`
}
