// The process in which a guard's file judges (guard-child.ts), as the replay sees it: asked, and given up where it does not answer.
// It has no environment, may write no file and start nothing, as far as Node's permission model reaches; from Node.js 25 on it has no network either.

import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { StoredRecord } from '../../../../shared/bus/port.ts'
import type { Milliseconds } from '../../../../shared/clock.ts'
import { WeirError } from '../../../../shared/errors.ts'
import { limits } from '../../../../shared/limits.ts'
import { printable } from '../../terminal/printable.ts'
import type { Answer, Judged, Request } from './guard-child.ts'

export type LoadedGuard = Extract<Answer, { kind: 'loaded' }>['guard']

export type GuardProcess = {
  readonly guard: LoadedGuard
  /** Records of rounds-cleared, in order. Throws `guard.invalid` where the guard threw, took too long or answered nonsense, and says in which round. */
  judge(partition: number, records: readonly StoredRecord[]): Promise<Judged[]>
  close(): void
}

/** A process that starts, and a module that may import much, on a machine that may be busy. */
const loadMsMax: Milliseconds = 30_000
/** So many rounds at once; each of them may take as long as in production. */
const roundsMax = 64
const judgeMsMax = roundsMax * limits.guardJudgeMsMax + loadMsMax
const faultCodes = new Set(['guard.threw', 'guard.stuck', 'guard.unusable'])

/** Beside this file, and of its kind: TypeScript in a checkout, JavaScript in the package. */
const program = fileURLToPath(new URL(`guard-child${extname(import.meta.filename)}`, import.meta.url))

/** `given`: as --guard names it. Throws `guard.invalid`, `usage`. */
export async function startGuardProcess(given: string): Promise<GuardProcess> {
  const child = fork(program, [], {
    env: {},
    execArgv: ['--permission', '--allow-fs-read=*', '--no-warnings', `--max-old-space-size=${limits.moduleHeapMiBMax}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
  })
  let complaints = ''
  child.stderr?.on('data', (text) => {
    complaints = `${complaints}${text}`.slice(-2_000)
  })
  const invalid = (what: string) => new WeirError('guard.invalid', `${given}: ${what}`)

  function ask(request: Request, msMax: Milliseconds, what: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        child.kill('SIGKILL')
        settle(() => reject(invalid(`${what} took longer than ${msMax / 1000} s, and was broken off: does it loop?`)))
      }, msMax)
      const onMessage = (answer: Answer) => settle(() => resolve(answer))
      const onExit = (code: number | null, signal: string | null) => {
        const last =
          complaints
            .trim()
            .split('\n')
            .find((line) => /Error|denied/i.test(line)) ?? ''
        settle(() =>
          reject(
            invalid(
              `its process ended while ${what} (${signal ?? `exit code ${code}`})${last === '' ? '' : `: ${printable(last.trim())}`}`,
            ),
          ),
        )
      }
      function settle(end: () => void): void {
        clearTimeout(timer)
        child.off('message', onMessage).off('exit', onExit)
        end()
      }
      child.on('message', onMessage).on('exit', onExit)
      child.send(request, () => {}) // where the channel is broken, `exit` comes too
    })
  }

  const loaded = await ask({ kind: 'load', given }, loadMsMax, 'loading it')
  if (loaded.kind !== 'loaded') {
    child.kill('SIGKILL')
    const reason = loaded.kind === 'failed' ? loaded.reason : 'it was not loaded'
    throw reason.startsWith(given) ? new WeirError('guard.invalid', reason) : invalid(reason)
  }

  return {
    guard: loaded.guard,

    async judge(partition, records) {
      const all: Judged[] = []
      for (let first = 0; first < records.length; first += roundsMax) {
        const answer = await ask({ kind: 'judge', partition, records: records.slice(first, first + roundsMax) }, judgeMsMax, 'judging')
        if (answer.kind !== 'judged') throw invalid(answer.kind === 'failed' ? answer.reason : 'it did not judge')
        for (const judged of answer.judged) all.push(usable(judged))
      }
      return all
    },

    close() {
      child.kill('SIGKILL')
    },
  }

  function usable(judged: Judged): Judged {
    const { conversation, turn, round, verdicts } = judged.verdict
    const fault = verdicts.find(({ code }) => faultCodes.has(code))
    if (fault === undefined) return judged
    throw invalid(
      `it fails on round ${round} of turn ${turn} of conversation ${printable(conversation)}: ${printable(fault.evidence ?? fault.code)}. ` +
        'Where it enforces, its calls would be vetoed',
    )
  }
}
