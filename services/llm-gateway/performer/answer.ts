// Streams the answer of one attempt, within bounds on silence, size and repetition, and writes its parts
// in order, ahead of the decision on the attempt.
// Owns: reading the provider's stream no faster than its parts can be written, and leaving it.
// Does not own: the records before and after the parts (attempt.ts), the meaning of the provider's
// bytes (providers/).
//
// While a record's worth of parts waits for a write, the stream is not read (R7): the
// provider's socket fills, and its server waits. That does not count as silence.
// If anything ends the reading before the provider does (a stop, a limit, a failed
// write), the request is aborted.
// One write is in flight at a time, and later events gather for the next record. So
// a faster stream or a slower bus makes fewer and larger records.
// Nothing is written after a failed write: a missing part would cut the attempt.
// Characters go into the log whole, wherever the stream cuts them
// (whole-characters.ts).

import type { Agent } from '../../../shared/agents/agents.ts'
import { keysOfModel } from '../../../shared/agents/secrets.ts'
import { eventWeight } from '../../../shared/contract/call/part-weight.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { PartEvent, PartKind } from '../../../shared/contract/messages.ts'
import type { Clock, Milliseconds } from '../../../shared/lib/clock.ts'
import type { WorkLog } from '../../../shared/lib/log/lazy-log.ts'
import {
  type Failed,
  type Finished,
  failedBy,
  type ProviderRequest,
  type Streamed,
} from '../../../shared/wire/exchange.ts'
import { AnswerWatch } from '../degenerate/answer-watch.ts'
import type { Connect } from './providers/providers.ts'
import { inItsWords } from './providers/text-calling.ts'
import { noLongerWanted, orStopped, stopped, waitingUntil } from './wire/abortable-wait.ts'
import { maskedAnswer } from './wire/masked-answer.ts'
import { type SilenceWatch, watchSilence } from './wire/silence.ts'
import { WholeCharacters } from './wire/whole-characters.ts'

/** How long a part of a stream is held back to join others in one record. */
export const partHoldMs = 20
export const partEventsMax = 256
/** Bytes of a part's events at which it is written without waiting for more. */
export const partBytesMax = 64 * 1024
/**
 * The time, in multiples of an agent's stallMs, during which a provider may send only comments,
 * pings and pieces of events.
 */
export const wordlessStallsMax = 3

/**
 * The request, its provider, and the destination of its parts. `stallMs`, `firstByteMs`: the agent's
 * settings.
 * `stop` aborts when the answer is no longer needed.
 */
export type AnswerOptions = {
  connect: Connect
  agent: Agent
  request: ProviderRequest
  stallMs: Milliseconds
  /** Null: stallMs. */
  firstByteMs: Milliseconds | null
  clock: Clock
  parts: PartWriter
  stop: AbortSignal
  log: WorkLog
}

/**
 * `mentions`: whether a name occurs in the answer, in a call or in visible text. Visible text may
 * contain calls to recover (I2). `text`: all visible text. `isReply`: it has such text and no call.
 */
export type Answer = Finished & {
  mentions: (name: string) => boolean
  text: string
  isReply: boolean
}

/** Rejects if the parts cannot be written. */
export async function streamAnswer(
  options: AnswerOptions,
): Promise<Answer | Failed | typeof stopped> {
  const { request, stallMs, firstByteMs, clock, parts, stop } = options
  const names: string[] = []
  let hasCalls = false
  const text: string[] = []
  let bytes = 0
  const watch = new AnswerWatch(() => resultsOfTurn(request))

  const leave = new AbortController()
  let stall: Failed | undefined
  let isOver = false
  const wordlessMs = stallMs * wordlessStallsMax
  const firstMs = firstByteMs ?? stallMs
  const silences = { first: firstMs, silent: stallMs, wordless: wordlessMs }
  const silence = watchSilence(clock, silences, (limit) => {
    stall = {
      first: () => silent(firstMs, 'firstByteMs'),
      silent: () => silent(stallMs, 'stallMs'),
      wordless: () => wordless(wordlessMs),
    }[limit]()
    leave.abort(noLongerWanted)
  })
  // Not AbortSignal.any: it is slower, and a late stop would abort a finished request.
  const { signal } = leave
  const leaveNow = (): void => leave.abort(noLongerWanted)
  stop.addEventListener('abort', leaveNow, { once: true })
  if (stop.aborted) leaveNow()
  const events = guarded(options, signal, silence)
  const waiting = waitingUntil(signal)
  try {
    for (;;) {
      const next = await waiting.for(events.next())
      if (next === stopped) return stop.aborted ? stopped : (stall ?? stopped)
      isOver = next.value.kind !== 'events'
      if (next.value.kind === 'failed') return next.value
      if (next.value.kind === 'finished') {
        const visible = text.join('')
        const isReply = !hasCalls && visible.trim() !== ''
        // A name may come in pieces, and only the accumulator knows their calls. An extra
        // declaration does no harm.
        const called = names.join('')
        return {
          ...next.value,
          text: visible,
          isReply,
          mentions: (name) =>
            names.includes(name) || called.includes(name) || visible.includes(name),
        }
      }

      for (const event of next.value.events) {
        bytes += eventWeight(event)
        if (isOfCall(event)) hasCalls = true
        if (isOfCall(event) && event.name !== null && event.name !== names.at(-1))
          names.push(event.name)
        if (event.kind === 'text' || event.kind === 'refusal') text.push(event.text)
      }
      silence.onAnswer()
      if (bytes > limits.roundPartsBytesMax) return tooLarge(bytes)
      const degenerate = watch.add(next.value.events)
      if (degenerate !== undefined) return degenerate
      const room = parts.add(next.value.events)
      if (room === undefined) continue
      silence.pause()
      if ((await orStopped(stop, room)) === stopped) return stopped
      silence.resume()
    }
  } finally {
    silence.stop()
    waiting.end()
    stop.removeEventListener('abort', leaveNow)
    if (!isOver) leaveNow() // a finished stream closes its connection itself
    events.return(noEnding).catch(() => undefined)
  }
}

/** The texts that the model may repeat: the results of this turn's tools. */
function resultsOfTurn({ history }: ProviderRequest): string[] {
  const turn = history.at(-1)?.turn
  return history.flatMap((entry) => {
    if (entry.turn !== turn || entry.round === 0) return []
    // A request in plain text has the results in a user's message.
    return [...entry.results.map(({ text }) => text), ...(entry.user === null ? [] : [entry.user])]
  })
}

const callKinds = new Set<PartKind>([
  'call_start',
  'call_whole',
  'call_arguments',
  'call_done',
  'call_piece',
  'call_piece_beside',
])

function isOfCall({ kind }: PartEvent): boolean {
  return callKinds.has(kind)
}

/**
 * The provider's stream, with an ending in every case. Errors of our code are failures of the
 * attempt too.
 */
async function* guarded(
  { connect, agent, request, log }: AnswerOptions,
  signal: AbortSignal,
  silence: SilenceWatch,
): AsyncGenerator<Streamed, Failed> {
  try {
    silence.pause() // our code loads here
    const provider = await connect(agent)
    silence.resume()
    const answer = provider.stream(inItsWords(agent, request), signal, silence.onBytes)
    yield* maskedAnswer(answer, keysOfModel(agent.model))
    return noEnding
  } catch (error) {
    const reason = `the gateway failed on the stream of the provider (${error instanceof Error ? error.name : typeof error})`
    if (!signal.aborted) log.error({ err: error }, reason)
    return { ...noEnding, reason }
  }
}

const noEnding = failedBy(
  'provider.stream',
  'internal',
  'the stream of the provider had no ending',
  true,
)

function silent(ms: Milliseconds, setting: 'stallMs' | 'firstByteMs'): Failed {
  return stalled(`no byte from the provider for ${ms} ms (the agent's setting ${setting})`)
}

function wordless(ms: Milliseconds): Failed {
  const rule = `${wordlessStallsMax} times the agent's setting stallMs`
  return stalled(
    `nothing of an answer from the provider for ${ms} ms, only signs of life (${rule})`,
  )
}

function stalled(reason: string): Failed {
  return failedBy('provider.stalled', 'transient', reason)
}

function tooLarge(bytes: number): Failed {
  const reason = `the response has ${bytes} bytes and is not over; at most ${limits.roundPartsBytesMax} are taken`
  return failedBy('provider.stream', 'deterministic', reason)
}

/** Writes part number `i`. Resolves once it is acknowledged. */
export type WritePart = (i: number, events: PartEvent[]) => Promise<unknown>

export class PartWriter {
  private readonly clock: Clock
  private readonly write: WritePart
  private gathered: PartEvent[] = []
  private gatheredBytes = 0
  private readonly characters = new WholeCharacters()
  private written = 0
  /** Settles, never rejects, when the write in flight is done and the next one has begun. */
  private inFlight: Promise<void> | undefined
  /** Its events. */
  private sent: PartEvent[] = []
  private failure: { cause: unknown } | undefined
  private isDue = false
  private isLast = false
  private hasText = false
  private cancelTimer: (() => void) | undefined

  constructor(clock: Clock, write: WritePart) {
    this.clock = clock
    this.write = write
  }

  /**
   * Undefined: there is room for more. Otherwise resolves once there is, and rejects if a write
   * failed.
   */
  add(events: PartEvent[]): Promise<void> | undefined {
    for (const event of events) this.gather(this.characters.pass(event))
    const isFirstText = !this.hasText && events.some(({ kind }) => kind === 'text')
    if (isFirstText) {
      this.hasText = true
      this.cancelTimer?.()
      this.cancelTimer = undefined
    }
    if (this.gathered.length > 0)
      // Not at once: an answer that comes whole is written with its end.
      this.cancelTimer ??= this.clock.after(isFirstText ? 0 : partHoldMs, () => {
        this.isDue = true
        this.writeNext()
      })
    this.writeNext()
    return this.isFull() || this.failure !== undefined ? this.room() : undefined
  }

  private async room(): Promise<void> {
    while (this.isFull() && this.inFlight !== undefined) await this.inFlight
    this.throwFailure()
  }

  /** Writes the rest. Resolves to the number of part records once all are acknowledged. */
  async finish(): Promise<number> {
    this.isLast = true
    this.gather(this.characters.waiting())
    this.writeNext()
    while (this.inFlight !== undefined) await this.inFlight
    this.throwFailure()
    return this.written
  }

  /**
   * Like finish, but leaves the rest to the caller: the events of each record still to be written,
   * from number `parts - rest.length` on.
   */
  async finishWithRest(): Promise<{ parts: number; rest: PartEvent[][] }> {
    this.isLast = true
    // when it ends, the next one takes the gathered events
    while (this.inFlight !== undefined) await this.inFlight
    this.throwFailure()
    return this.takeRest()
  }

  private takeRest(): { parts: number; rest: PartEvent[][] } {
    this.isLast = true
    this.gather(this.characters.waiting())
    this.clearTimer()
    const rest: PartEvent[][] = []
    while (this.gathered.length > 0) rest.push(this.take())
    this.written += rest.length
    return { parts: this.written, rest }
  }

  /** The weight of the events that are not acknowledged. */
  get restBytes(): number {
    return this.sent.reduce((sum, event) => sum + eventWeight(event), this.gatheredBytes)
  }

  /**
   * Like finishWithRest, but waits for nothing: `rest` begins with the events of the write in flight, if
   * `isSent`.
   */
  finishAhead(): { parts: number; rest: PartEvent[][]; isSent: boolean } {
    this.throwFailure()
    const isSent = this.inFlight !== undefined
    const { parts, rest } = this.takeRest()
    return { parts, rest: isSent ? [this.sent, ...rest] : rest, isSent }
  }

  /** Discards unsent events. */
  drop(): void {
    this.gathered = []
    this.gatheredBytes = 0
    this.clearTimer()
  }

  /** Discards unsent events. Resolves once nothing is in flight. */
  async stop(): Promise<void> {
    this.drop()
    while (this.inFlight !== undefined) await this.inFlight
  }

  private gather(events: PartEvent[]): void {
    for (const event of events) {
      this.gathered.push(event)
      this.gatheredBytes += eventWeight(event)
    }
  }

  private writeNext(): void {
    const isTime = this.isDue || this.isLast || this.isFull()
    if (
      this.inFlight !== undefined ||
      this.failure !== undefined ||
      this.gathered.length === 0 ||
      !isTime
    )
      return
    const events = this.take()
    if (this.gathered.length === 0) this.clearTimer()
    this.sent = events
    this.inFlight = this.write(this.written, events).then(
      () => {
        this.inFlight = undefined
        this.sent = []
        this.writeNext()
      },
      (cause: unknown) => {
        this.inFlight = undefined
        this.failure = { cause }
        this.drop()
      },
    )
    this.written += 1
  }

  /** As many events as fit into one record, at least one. */
  private take(): PartEvent[] {
    let count = 0
    for (
      let bytes = 0;
      count < this.gathered.length && count < partEventsMax && bytes < partBytesMax;
      count += 1
    )
      bytes += eventWeight(this.gathered[count] as PartEvent)
    const events = this.gathered.splice(0, count)
    for (const event of events) this.gatheredBytes -= eventWeight(event)
    return events
  }

  private isFull(): boolean {
    return this.gathered.length >= partEventsMax || this.gatheredBytes >= partBytesMax
  }

  private clearTimer(): void {
    this.cancelTimer?.()
    this.cancelTimer = undefined
    this.isDue = false
  }

  private throwFailure(): void {
    if (this.failure !== undefined) throw this.failure.cause
  }
}
