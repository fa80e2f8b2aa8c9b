// Joins characters that a provider cut in half. A character beyond U+FFFF has two halves in a
// JavaScript string, and a provider may send them in two pieces. The log is UTF-8, which has no
// halves: each would become U+FFFD for good. So a first half waits for its second.

import type { PartEvent, PartKind } from '../../../../shared/contract/messages.ts'

const cutKinds = new Set<PartKind>(['text', 'refusal', 'reasoning', 'call_arguments'])

/** Applied to the events of one attempt. */
export class WholeCharacters {
  /** First halves that wait, by kind and index: pieces of other texts may come between. */
  private readonly halves = new Map<string, PartEvent>()
  /** The same for a piece of a call without blocks. */
  private piece: PartEvent | undefined

  /** Returns the events that can be written now, in order. */
  pass(event: PartEvent): PartEvent[] {
    if (event.kind === 'call_piece') return this.passPiece(event)
    const { kind, index } = event
    if (this.halves.size === 0 && this.piece === undefined && !mayBeCut(event)) return [event]
    if (!cutKinds.has(kind)) return [...this.waiting(index), ...this.waitingPiece(), event]
    const key = `${kind} ${index}`
    const half = this.halves.get(key)?.text ?? ''
    const text = half + event.text
    const end = endsInHalf(text) ? text.length - 1 : text.length
    if (end < text.length) this.halves.set(key, { ...event, text: text.slice(end) })
    else this.halves.delete(key)
    if (end === text.length && half === '') return [event]
    return end === 0 ? [] : [{ ...event, text: text.slice(0, end) }]
  }

  /**
   * Only the accumulator knows the call of such a piece. So a half waits for the very next piece,
   * and only if that one seems to continue it.
   */
  private passPiece(event: PartEvent): PartEvent[] {
    const half = this.piece
    const goesOn =
      half !== undefined &&
      event.index === half.index &&
      event.name === null &&
      (event.id === null || event.id === half.id)
    const before = goesOn ? [] : this.waitingPiece()
    const text = (goesOn ? half.text : '') + event.text
    const end = endsInHalf(text) ? text.length - 1 : text.length
    this.piece =
      end === text.length
        ? undefined
        : { ...event, id: event.id ?? (goesOn ? half.id : null), name: null, text: text.slice(end) }
    return [
      ...before,
      end === event.text.length && !goesOn ? event : { ...event, text: text.slice(0, end) },
    ]
  }

  private waitingPiece(): PartEvent[] {
    const waiting = this.piece === undefined ? [] : [this.piece]
    this.piece = undefined
    return waiting
  }

  /** Returns the halves that stayed alone, of one index or of all, and forgets them. */
  waiting(index?: number): PartEvent[] {
    if (this.halves.size === 0) return index === undefined ? this.waitingPiece() : []
    const left = [...this.halves].filter(
      ([, event]) => index === undefined || event.index === index,
    )
    for (const [key] of left) this.halves.delete(key)
    return [...left.map(([, event]) => event), ...(index === undefined ? this.waitingPiece() : [])]
  }
}

function mayBeCut({ kind, text }: PartEvent): boolean {
  return cutKinds.has(kind) && endsInHalf(text)
}

function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff
}
