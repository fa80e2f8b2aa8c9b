// What the log of `rounds-cleared` says about calls that wait for guards, for claims.ts: whom each
// was asked of, and what each guard's word, or its silence, came to. Written a second time from the
// protocol, as claims.ts is.
//
// A call waits for every guard that enforces for its tool by the policy in its round. Of each guard
// the first answer counts that comes before round-cleared + deadline: a rejection of any is a veto,
// and an answer that leaves out a call it was asked about rejects all. At the deadline silence is
// what on-timeout says, in the order of deadlines, then of names, where several are over at once.
// At expiresAt, and with a cancel, nobody is waited for any more.

import type {
  GuardAnswer,
  GuardInForce,
  GuardVerdict,
  RoundCleared,
} from '../../shared/contract/messages.ts'

/** A guard's word on a call, as it counted. */
export type GuardWord = {
  guard: string
  answer: GuardAnswer
  verdict: 'pass' | 'reject'
  time: number
  at: string
}

/** A guard that a call was asked of. `due`: when its time is over. */
export type Asked = { name: string; onTimeout: GuardInForce['onTimeout']; due: number }

/**
 * A call as far as guards are concerned; `awaited`: those whose word is missing; undefined: it does
 * not wait.
 */
export type Waiting = {
  ordinal: number
  expiresAt: number
  asked: Asked[]
  words: GuardWord[]
  awaited: Asked[] | undefined
}

/** What became of a call that waited: it may run, or never will. */
export type WaitEnd = 'passed' | 'vetoed' | 'skipped'

type End<Call> = (call: Call, how: WaitEnd) => void

export function askedOf({ policy }: RoundCleared, tool: string, clearedAt: number): Asked[] {
  return policy.guards
    .filter((guard) => modeOf(guard, tool) === 'enforce')
    .map(({ name, onTimeout, deadlineMs }) => ({
      name,
      onTimeout,
      due: clearedAt + Math.max(1, deadlineMs),
    }))
}

/** Where several patterns match, `enforce` counts. Undefined: it is not asked about this tool. */
export function modeOf(
  { tools }: Pick<GuardInForce, 'tools'>,
  tool: string,
): 'enforce' | 'shadow' | undefined {
  const modes = tools
    .filter(({ pattern }) => asExpression(pattern).test(tool))
    .map(({ mode }) => mode)
  return modes.includes('enforce') ? 'enforce' : modes[0]
}

function asExpression(pattern: string): RegExp {
  const pieces = pattern.split('*').map((piece) => piece.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'))
  return new RegExp(`^${pieces.join('.*')}$`, 's')
}

/** The calls of a round at `time`, before anything else is done with the record at `at`. */
export function passTime<Call extends Waiting>(
  calls: Call[],
  time: number,
  at: string,
  end: End<Call>,
): void {
  for (const call of calls) {
    if (call.awaited === undefined) continue
    if (time >= call.expiresAt) {
      call.awaited = undefined
      end(call, 'skipped')
      continue
    }
    const inOrder = call.awaited.toSorted((a, b) => a.due - b.due || (a.name < b.name ? -1 : 1))
    for (const { name, onTimeout, due } of inOrder) {
      if (time < due) continue
      speak(
        call,
        {
          guard: name,
          answer: 'silent',
          verdict: onTimeout === 'allow' ? 'pass' : 'reject',
          time,
          at,
        },
        end,
      )
    }
  }
}

/** A guard's answer to the round of these calls. */
export function hear<Call extends Waiting>(
  calls: Call[],
  message: GuardVerdict,
  time: number,
  at: string,
  end: End<Call>,
): void {
  passTime(calls, time, at, end)
  const { guard, verdicts } = message
  const asked = calls.filter((call) => call.asked.some(({ name }) => name === guard))
  const isUsable = asked.every(({ ordinal }) =>
    verdicts.some((verdict) => verdict.ordinal === ordinal),
  )
  for (const call of asked) {
    const isRejected =
      !isUsable ||
      verdicts.some(({ ordinal, verdict }) => ordinal === call.ordinal && verdict === 'reject')
    const answer = isUsable ? 'verdicts' : 'unusable'
    if (call.awaited?.some(({ name }) => name === guard))
      speak(call, { guard, answer, verdict: isRejected ? 'reject' : 'pass', time, at }, end)
  }
}

/** One that is not waited for any more is not heard. */
function speak<Call extends Waiting>(call: Call, word: GuardWord, end: End<Call>): void {
  if (call.awaited === undefined) return
  call.words.push(word)
  const awaited = call.awaited.filter(({ name }) => name !== word.guard)
  const how = word.verdict === 'reject' ? 'vetoed' : awaited.length === 0 ? 'passed' : undefined
  call.awaited = how === undefined ? awaited : undefined
  if (how !== undefined) end(call, how)
}
