// A character beyond the first 65,536, an emoji for example, is two halves in a text. A provider that sends its tokens may send the halves in two
// pieces, and the log holds UTF-8, which knows no halves: each would become U+FFFD for ever. So a first half waits for the piece with the second.

import type { PartEvent } from '../../shared/messages.ts'

/** The events of one attempt, so that no piece of a text ends in half a character whose other half comes. */
export class WholeCharacters {
  /** First halves that wait, by kind and index: pieces of other texts may come between. */
  private readonly halves = new Map<string, PartEvent>()

  /** What can be written now, in order. */
  pass(event: PartEvent): PartEvent[] {
    const { kind, index } = event
    if (kind !== 'text' && kind !== 'reasoning' && kind !== 'call_arguments') return [...this.waiting(index), event]
    const key = `${kind} ${index}`
    const half = this.halves.get(key)?.text ?? ''
    const text = half + event.text
    const end = endsInHalf(text) ? text.length - 1 : text.length
    if (end < text.length) this.halves.set(key, { ...event, text: text.slice(end) })
    else this.halves.delete(key)
    if (end === text.length && half === '') return [event]
    return end === 0 ? [] : [{ ...event, text: text.slice(0, end) }]
  }

  /** The halves that never became whole, of one index or of all; they wait no longer. */
  waiting(index?: number): PartEvent[] {
    if (this.halves.size === 0) return []
    const left = [...this.halves].filter(([, event]) => index === undefined || event.index === index)
    for (const [key] of left) this.halves.delete(key)
    return left.map(([, event]) => event)
  }
}

function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff
}
