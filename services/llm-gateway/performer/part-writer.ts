// Writes the parts of one attempt ahead of its decision, in order.
// PART-WRITER-1. One write is in flight at a time, and later events gather for the next record. So
//     a faster stream or a slower bus makes fewer and larger records.
// PART-WRITER-2. The gathered events are bounded (R7): add() waits while a record's worth is behind
//     a write.
// PART-WRITER-3. Nothing is written after a failed write: a missing part would cut the attempt.
// PART-WRITER-4. Characters go into the log whole, wherever the stream cuts them
//     (whole-characters.ts).

import { eventWeight } from '../../../shared/contract/call/part-weight.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { PartEvent } from '../../../shared/contract/messages.ts'
import type { Clock } from '../../../shared/lib/clock.ts'
import { WholeCharacters } from './wire/whole-characters.ts'

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
      this.cancelTimer ??= this.clock.after(isFirstText ? 0 : limits.partHoldMs, () => {
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
    this.gather(this.characters.waiting())
    this.clearTimer()
    const rest: PartEvent[][] = []
    while (this.gathered.length > 0) rest.push(this.take())
    this.written += rest.length
    return { parts: this.written, rest }
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
    this.inFlight = this.write(this.written, events).then(
      () => {
        this.inFlight = undefined
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
      count < this.gathered.length && count < limits.partEventsMax && bytes < limits.partBytesMax;
      count += 1
    )
      bytes += eventWeight(this.gathered[count] as PartEvent)
    const events = this.gathered.splice(0, count)
    for (const event of events) this.gatheredBytes -= eventWeight(event)
    return events
  }

  private isFull(): boolean {
    return this.gathered.length >= limits.partEventsMax || this.gatheredBytes >= limits.partBytesMax
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
