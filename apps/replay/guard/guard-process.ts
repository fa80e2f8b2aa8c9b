// Controls the process of a guard (guard-child.ts) from the replay. It sends one question at a
// time, and ends a process that does not answer correctly. The process has no environment, and may
// only read its code (readable-folders.ts).

import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { namedGuard } from '../../../client/guard-file.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { RoundId } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { printable } from '../../terminal/printable.ts'
import { type Answer, answerIn, type Judged, type LoadedGuard, verdictsIn } from './guard-answer.ts'
import type { Question } from './guard-child.ts'
import { moments } from './moment.ts'
import { readableFolders } from './readable-folders.ts'

export type GuardProcess = {
  readonly guard: LoadedGuard
  /**
   * Records of rounds-cleared, in order. Throws `guard.invalid` where the guard threw, took too
   * long or answered nonsense, and says in which round.
   */
  judge(partition: number, records: readonly StoredRecord[]): Promise<Judged[]>
  close(): void
}

/** A process that starts, and a module that may import much, on a machine that may be busy. */
const loadingMsMax: Milliseconds = 30_000
/**
 * So many rounds at once; each of them may take as long as in production. The first are few: most
 * of what goes wrong does so at once.
 */
const roundsMax = 64
const faultCodes = new Set(['guard.threw', 'guard.stuck', 'guard.unusable'])

/** Beside this file, and of its kind: TypeScript in a checkout, JavaScript in the package. */
const program = fileURLToPath(
  new URL(`guard-child${extname(import.meta.filename)}`, import.meta.url),
)

/** `given`: as --guard names it. Throws `guard.invalid`, `usage`. */
export async function startGuardProcess(
  given: string,
  { loadMsMax = loadingMsMax } = {},
): Promise<GuardProcess> {
  const named = namedGuard(given)
  const child = fork(program, [], {
    env: {},
    execArgv: [
      ...[
        '--permission',
        ...readableFolders(named.file).map((folder) => `--allow-fs-read=${folder}`),
      ],
      '--allow-worker', // for one of its own, and not for the guard's: seal.ts
      ...['--no-warnings', `--max-old-space-size=${limits.moduleHeapMiBMax}`],
    ],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'], // the last one is its lifeline: see guard-child.ts, GUARD-CHILD-3 and GUARD-CHILD-4
    serialization: 'advanced',
  })
  const said = endOf(child.stderr)
  const rounds = endOf(child.stdio[4])
  let asked = 0
  let isAsking = false
  let hasStrayed = false
  let batch = 1
  let notStarted: string | undefined
  let over: [code: number | null, signal: string | null] | undefined
  child.on('message', () => {
    hasStrayed ||= !isAsking
  })
  child.on('close', (code, signal) => {
    over = [code, signal]
  })
  child.on('error', (error) => {
    notStarted = error.message // `close` comes too
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
      if (judged === undefined) throw invalid(nonsense(judging()))
      for (const one of judged) all.push(usable(one))
      first += some.length
      batch = Math.min(batch * 2, roundsMax)
    }
    return all
  }

  /** `doing`: what it is at, in words. */
  function ask(question: Question, msMax: Milliseconds, doing: () => string): Promise<Answer> {
    asked += 1
    const number = asked
    return new Promise<Answer>((resolve, reject) => {
      if (over !== undefined) return reject(invalid(ended(doing(), ...over))) // between two questions: it may have set itself a time
      const timer = setTimeout(() => {
        settle(() =>
          reject(
            invalid(
              `${doing()} took longer than ${msMax / 1000} s, and was broken off: does it loop?`,
            ),
          ),
        )
        close()
      }, msMax)
      const onMessage = (message: unknown) => {
        const answer = hasStrayed ? undefined : answerIn(message, number)
        settle(() => (answer === undefined ? reject(invalid(nonsense(doing()))) : resolve(answer)))
      }
      // Not `exit`: by then what it has said may still be in the pipes.
      const onClose = (code: number | null, signal: string | null) =>
        settle(() => reject(invalid(ended(doing(), code, signal))))
      function settle(end: () => void): void {
        clearTimeout(timer)
        child.off('message', onMessage).off('close', onClose)
        isAsking = false
        end()
      }
      isAsking = true
      child.on('message', onMessage).on('close', onClose)
      child.send({ number, ...question }, () => {}) // where the channel is broken, `close` comes too
    })
  }

  function judging(): string {
    const round = lastRoundIn(rounds())
    return round === undefined ? 'judging' : `judging ${round}`
  }

  function ended(doing: string, code: number | null, signal: string | null): string {
    const lines = said().split('\n')
    const why = notStarted ?? lines.find((line) => /error|denied/i.test(line)) ?? ''
    return `its process ended while ${doing} (${signal ?? `exit code ${code}`})${why === '' ? '' : `: ${printable(why.trim())}`}`
  }

  function notLoaded(answer: Answer): WeirError {
    close()
    const reason = answer.kind === 'failed' ? answer.reason : nonsense('loading it')
    return reason.startsWith(named.file) ? new WeirError('guard.invalid', reason) : invalid(reason)
  }

  function usable(judged: Judged): Judged {
    const fault = judged.verdict.verdicts.find(({ code }) => faultCodes.has(code))
    if (fault === undefined) return judged
    throw invalid(
      `it fails on ${roundText(judged.verdict)}: ${printable(fault.evidence ?? fault.code)}. ` +
        'Where it enforces, its calls would be vetoed',
    )
  }

  function invalid(what: string): WeirError {
    return new WeirError('guard.invalid', `${given}: ${what}`)
  }

  function close(): void {
    child.kill('SIGKILL')
  }
}

function nonsense(doing: string): string {
  return `its process sent what is no answer while ${doing}: a guard answers by what judge gives back, and sends nothing itself`
}

const keptChars = 4_000

/** The end of what comes. */
function endOf(stream: unknown): () => string {
  let text = ''
  ;(stream as NodeJS.ReadableStream).on('data', (more) => {
    text = `${text}${more}`.slice(-keptChars)
  })
  return () => text
}

/** Of lines that name a round each, the last whole one; undefined: there is none. */
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
  return `round ${round} of turn ${turn} of conversation ${printable(conversation)}`
}
