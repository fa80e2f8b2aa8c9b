// Asks whoever sits at the terminal about calls of their own turn that wait for a person: the
// beginning of the call's id, or n and why. One call after the other; what was decided elsewhere
// meanwhile is not asked for any more. Only the id approves. What was typed before the question
// stood there is read as its answer, and a model can write text that looks like a question: a `y`
// that was meant for something else would approve a call that nobody has read. Neither knows the
// id. Standard input is read only while a question is open, so that Ctrl-C reaches the process all
// the rest of the time; in a question it is passed on.

import { createInterface } from 'node:readline/promises'
import type { TurnEvent } from '../../../client/turn-events.ts'
import type { Weir } from '../../../client/weir.ts'
import { idFrom } from '../../../services/approval/approval.ts'
import type { MessageOf, PendingCall } from '../../../shared/contract/messages.ts'
import type { Screen } from '../../terminal/live-screen.ts'
import { printable } from '../../terminal/printable.ts'
import type { Streams } from '../../terminal/streams.ts'

export type Asker = {
  /** A question stands on the terminal's last line. */
  readonly isAsking: boolean
  /** Takes back what this event makes needless to ask; before it is shown. */
  stopFor(event: TurnEvent): void
  /** Asks what this event wants to be asked; after it is shown. */
  askFor(event: TurnEvent): void
  /** Asks nothing more. */
  close(): void
}

type Decide = Pick<Weir, 'approve' | 'reject'>

/** Undefined: nobody sits there who could be asked. */
export function createAsker(
  weir: Decide,
  screen: Screen,
  { input, errors }: Pick<Streams, 'input' | 'errors'>,
): Asker | undefined {
  if (input.isTTY !== true || errors.isTTY !== true) return undefined
  const queue: PendingCall[] = []
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
        (told) => told !== undefined && screen.print(`  ${printable(told)}`),
        (error: unknown) =>
          screen.print(
            `  the decision was not written: ${printable(error instanceof Error ? error.message : String(error))}`,
          ),
      )
      .then(next)
  }

  /** Undefined: there is none. */
  async function answerTo(
    { name, id }: PendingCall,
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
        const question = `  ${printable(name)} ${id}: its first ${idCharactersMin} characters to approve, or n and why: `
        const line = await prompt.question(question, {
          signal: AbortSignal.any([signal, stop.signal]),
        })
        const answer = answerIn(line, id)
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
      queue.push(...(event as MessageOf<'approval-pending'>).calls)
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

type Answer = { approve: true } | { approve: false; reason: string }

/**
 * `k7f3` or more of the id, `n`, `no: not today`; undefined: none of these. A no is looked for
 * first; no id reads as one.
 */
export function answerIn(line: string, id: string): Answer | undefined {
  const no = /^\s*no?(?:\b[\s:,;.-]*(.*))?$/i.exec(line)
  if (no !== null) return { approve: false, reason: (no[1] ?? '').trim() }
  const typed = idFrom(line)
  return typed.length >= idCharactersMin && id.startsWith(typed) ? { approve: true } : undefined
}

/** 20 bits: as many as nobody types by chance, and few enough to be typed. */
const idCharactersMin = 4

/**
 * What to say of it; undefined: it counted, and an event will say so. `hash`: of exactly what was
 * shown.
 */
async function decide(
  weir: Decide,
  { id, hash }: PendingCall,
  answer: Answer,
): Promise<string | undefined> {
  const { counted, text } = answer.approve
    ? await weir.approve(id, { hash })
    : await weir.reject(id, { hash, reason: answer.reason })
  return counted ? undefined : text
}
