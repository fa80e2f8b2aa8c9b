// Asks the person at the terminal about the waiting calls of their turn, one after the other. The
// start of the call's id allows; n and a reason denies. A call that was decided elsewhere is no
// longer on screen.
// Only the id allows: text typed before the question counts as its answer, and a model can write
// text that looks like a question. Neither knows the id.
// Standard input is read only during a question, so Ctrl-C reaches the process otherwise.

import { createInterface } from 'node:readline/promises'
import type { TurnEventBody } from '../../../client/turn/turn-event.ts'
import type { Weir } from '../../../client/weir.ts'
import { idFrom } from '../../../services/approval/approval.ts'
import type { PendingCall } from '../../../shared/contract/messages.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import type { Screen } from '../../terminal/live-screen.ts'
import type { Streams } from '../../terminal/streams.ts'
import { printable } from '../../terminal/text/printable.ts'

export type Asker = {
  /** A question is on the terminal's last line. */
  readonly isAsking: boolean
  /** Withdraws questions that this event makes needless. Call it before showing the event. */
  stopFor(event: TurnEventBody): void
  /** Asks about the calls of this event. Call it after showing the event. */
  askFor(event: TurnEventBody): void
  /** Ends all questions. */
  close(): void
}

type AskedCall = Omit<PendingCall, 'arguments'>

type Decide = Pick<Weir, 'allow' | 'deny'>

/** Undefined: there is no terminal. */
export function createAsker(
  weir: Decide,
  screen: Screen,
  { input, errors }: Pick<Streams, 'input' | 'errors'>,
): Asker | undefined {
  if (input.isTTY !== true || errors.isTTY !== true) return undefined
  const queue: AskedCall[] = []
  let asking: { id: string; stop: AbortController } | undefined

  function next(): void {
    const call = asking === undefined ? queue.shift() : undefined
    if (call === undefined) return
    const stop = new AbortController()
    asking = { id: call.id, stop }
    screen.live(undefined)
    void answerTo(call, stop.signal)
      .then((answer) => {
        if (asking?.stop === stop) asking = undefined
        return answer === undefined ? undefined : decide(weir, call, answer)
      })
      .then(
        (late) => late !== undefined && screen.print(`  ${printable(late)}`),
        (error: unknown) => {
          const why = printable(error instanceof Error ? error.message : String(error))
          screen.print(`  the decision was not written: ${why}`)
          const isUnfit = error instanceof WeirError && error.code === 'message.invalid'
          if (isUnfit && call.question !== null) queue.unshift(call)
        },
      )
      .then(next)
  }

  /** Undefined: the question was withdrawn or closed. */
  async function answerTo(
    { name, id, question: toolQuestion }: AskedCall,
    signal: AbortSignal,
  ): Promise<Answer | undefined> {
    const prompt = createInterface({ input, output: errors, terminal: true, historySize: 0 })
    const stop = new AbortController()
    prompt.on('close', () => stop.abort()) // Ctrl-D
    prompt.on('SIGINT', () => {
      prompt.close()
      process.kill(process.pid, 'SIGINT')
    })
    try {
      for (;;) {
        const how =
          toolQuestion === null
            ? 'to allow, or n and why'
            : 'and the values as a JSON object, or n to decline'
        const question = `  ${printable(name)} ${id}: its first ${idCharactersMin} characters ${how}: `
        const line = await prompt.question(question, {
          signal: AbortSignal.any([signal, stop.signal]),
        })
        const answer = answerIn(line, id, toolQuestion !== null)
        if (answer !== undefined) return answer
      }
    } catch {
      errors.write('\n')
      return undefined
    } finally {
      prompt.close()
    }
  }

  return {
    get isAsking() {
      return asking !== undefined
    },
    stopFor(event) {
      if (event.type === 'turn-finished') this.close()
      if (event.type !== 'approval-decided') return
      for (const [at, { id }] of [...queue.entries()].reverse())
        if (id === event.id) queue.splice(at, 1)
      if (asking?.id === event.id) stopAsking()
    },
    askFor(event) {
      if (event.type !== 'approval-pending') return
      queue.push(...event.calls)
      next()
    },
    close() {
      queue.length = 0
      stopAsking()
    },
  }

  function stopAsking(): void {
    asking?.stop.abort()
    asking = undefined
  }
}

type Answer = { answer: 'allow'; values?: string } | { answer: 'deny'; reason: string }

/**
 * Reads `k7f3` or more of the id, with `{"city":"Rome"}` after it for a question, `n`, or `no: not
 * today`. Undefined: none of these.
 */
export function answerIn(line: string, id: string, isQuestion = false): Answer | undefined {
  const no = /^\s*no?(?:\b[\s:,;.-]*(.*))?$/i.exec(line)
  if (no !== null) return { answer: 'deny', reason: (no[1] ?? '').trim() }
  const [, begin = '', values] = /^([^{]*)(\{.*)?$/s.exec(line) ?? []
  const typed = idFrom(begin)
  if (typed.length < idCharactersMin || !id.startsWith(typed)) return undefined
  if (values !== undefined && !isQuestion) return undefined
  return { answer: 'allow', ...(values !== undefined && { values }) }
}

/** 20 bits: too many to type by chance, and few enough to type. */
const idCharactersMin = 4

/** The text of a decision that does not count. Undefined: it counts, and an event reports it. */
async function decide(
  weir: Decide,
  { id, hash }: AskedCall,
  answer: Answer,
): Promise<string | undefined> {
  const { counted, text } =
    answer.answer === 'allow'
      ? await weir.allow(id, { hash, ...(answer.values && { values: answer.values }) })
      : await weir.deny(id, { hash, reason: answer.reason })
  return counted ? undefined : text
}
