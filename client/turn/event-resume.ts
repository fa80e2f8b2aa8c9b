// Continues the events of a conversation after a position. Pure: the events from the beginning of
// the turn go in, and those after the position come out.
// A text that was read up to the position continues there if its attempt is the same.
// Otherwise a text-reset voids it.

import type { Offset } from '../../shared/contract/bus.ts'
import type { RoundId } from '../../shared/contract/ids.ts'
import { usageError } from '../../shared/lib/errors.ts'
import { onOneLine } from '../../shared/lib/text-cut.ts'
import { type Placed, type TurnEvent, turnEventVersion } from './turn-event.ts'

/** `text`, `reasoning`: characters of `attempt` that were read. */
type Position = { offset: Offset; text: number; reasoning: number; attempt: string }

const form = /^(\d{1,16})(?:\.(\d{1,16})\.(\d{1,16})\.(.*))?$/s

/** Throws `usage`. */
export function positionIn(given: string): Position {
  const [, offset, text = '0', reasoning = '0', attempt = ''] = form.exec(given) ?? []
  if (offset === undefined)
    throw usageError(`after is '${onOneLine(given)}': give the position of an event`)
  return { offset: Number(offset), text: Number(text), reasoning: Number(reasoning), attempt }
}

/** For each event of the conversation, in order: the events to pass on. */
export function resumeAfter(given: string): (event: TurnEvent) => TurnEvent[] {
  const after = positionIn(given)
  let read: Position | undefined = after.text + after.reasoning > 0 ? after : undefined
  let isPast = false

  return (event) => {
    const { offset, text, attempt, reasoning } = positionIn(event.position)
    const { type } = event
    const isDelta = type === 'text-delta' || type === 'reasoning-delta'
    const isOfText = isDelta || type === 'text-reset'
    if (!isPast) isPast = offset > after.offset || (isOfText && offset === after.offset)
    if (!isPast) return []
    if (read === undefined) return [event]
    if (type === 'model-answered') {
      const isOther = event.attempt !== read.attempt
      read = undefined
      return isOther ? [resetBefore(event), event] : [event]
    }
    if (type === 'text-reset' || type === 'turn-finished') read = undefined
    if (!isDelta || read === undefined) return [event]
    if (attempt !== read.attempt) {
      read = undefined
      return [resetBefore(event), event]
    }
    const isText = type === 'text-delta'
    const left = isText ? text - read.text : reasoning - read.reasoning
    if (left <= 0) return []
    read = {
      ...read,
      text: Math.max(read.text, text),
      reasoning: Math.max(read.reasoning, reasoning),
    }
    return [left >= event.text.length ? event : { ...event, text: event.text.slice(-left) }]
  }
}

function resetBefore({ position, conversation, turn, round }: RoundId & Placed): TurnEvent {
  return { v: turnEventVersion, position, type: 'text-reset', conversation, turn, round }
}
