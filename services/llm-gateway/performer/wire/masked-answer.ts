// Hides the secrets of a model in its answer, before anything of the answer is written: in texts,
// arguments, ids, names and the finish reason. A server may repeat the key that it got.
// A secret is also found if the stream cuts it into consecutive pieces of one text.
// The beginning of a secret waits for the next event. An encoded secret in pieces is not found.
// A short secret stays: an answer may contain `ollama`, the key of a local server,
// as an ordinary word.

import type { PartEvent, PartKind } from '../../../../shared/contract/messages.ts'
import { isCredential, secretMask } from '../../../../shared/lib/log/secret-mask.ts'
import type { Streamed } from '../../../../shared/wire/exchange.ts'

const pieceKinds = new Set<PartKind>([
  'text',
  'refusal',
  'reasoning',
  'call_arguments',
  'call_piece',
])

export async function* maskedAnswer(
  answer: AsyncIterable<Streamed>,
  secrets: readonly string[],
): AsyncGenerator<Streamed, void> {
  const hidden = secrets.map((secret) => secret.trim()).filter(isCredential)
  if (hidden.length === 0) return yield* answer
  const hide = secretMask(hidden, '[key]')
  const pieces = new WaitingPieces(hidden)

  function masked(event: PartEvent): PartEvent {
    const { id, name, text } = event
    return { ...event, id: id && hide(id), name: name && hide(name), text: hide(text) }
  }

  for await (const next of answer) {
    const events =
      next.kind === 'events' ? next.events.flatMap((event) => pieces.pass(event)) : pieces.rest()
    if (events.length > 0) yield { kind: 'events', events: events.map(masked) }
    if (next.kind === 'finished') yield { ...next, finish: hide(next.finish) }
    if (next.kind === 'failed') {
      const { reason, finish } = next
      const end = { ...next, reason: hide(reason) }
      yield finish === undefined ? end : { ...end, finish: hide(finish) }
    }
  }
}

class WaitingPieces {
  private readonly secrets: string[]
  private readonly lengthMax: number
  private waiting: PartEvent | undefined

  constructor(secrets: readonly string[]) {
    this.secrets = secrets.map((secret) => secret.toLowerCase())
    this.lengthMax = Math.max(...this.secrets.map(({ length }) => length - 1))
  }

  /** Returns the events that can be shown now, in order. */
  pass(event: PartEvent): PartEvent[] {
    if (!pieceKinds.has(event.kind)) return [...this.rest(), event]
    const before = this.waiting
    const continues = before !== undefined && isContinued(before, event)
    const earlier = continues ? [] : this.rest()
    const text = (continues ? before.text : '') + event.text
    const end = text.length - this.beginningOfSecret(text)
    this.waiting = end === text.length ? undefined : { ...event, name: null, text: text.slice(end) }
    if (end === event.text.length && !continues) return [...earlier, event]
    const isEmpty = end === 0 && event.name === null && event.kind !== 'call_piece'
    return isEmpty ? earlier : [...earlier, { ...event, text: text.slice(0, end) }]
  }

  /** Returns the piece that waits, and forgets it. */
  rest(): PartEvent[] {
    const rest = this.waiting === undefined ? [] : [this.waiting]
    this.waiting = undefined
    return rest
  }

  /** The number of characters at the end of the text that may be the beginning of a secret. */
  private beginningOfSecret(text: string): number {
    const ending = text.slice(-this.lengthMax).toLowerCase()
    return Math.max(...this.secrets.map((secret) => beginningAtEnd(ending, secret)))
  }
}

/** Looks only where the first character stands: nearly all pieces of an answer have no beginning. */
function beginningAtEnd(ending: string, secret: string): number {
  const first = secret.charAt(0)
  let at = ending.indexOf(first, Math.max(0, ending.length - secret.length + 1))
  while (at >= 0 && !secret.startsWith(ending.slice(at))) at = ending.indexOf(first, at + 1)
  return at < 0 ? 0 : ending.length - at
}

function isContinued(before: PartEvent, { kind, index, id, name }: PartEvent): boolean {
  return (
    kind === before.kind &&
    index === before.index &&
    name === null &&
    (id === null || id === before.id)
  )
}
