// The timeline of records that were read from a log.

import type { ConversationId } from '../../../shared/contract/ids.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import {
  conversationTimeline,
  type TimelineOptions,
} from '../../../shared/view/conversation-timeline.ts'
import { viewOf } from '../../../shared/view/conversation-view.ts'
import { inOrder, type Logged } from '../../../shared/view/logged.ts'
import type { Timeline, TurnTimeline } from '../../../shared/view/timeline.ts'
import { printable } from '../../terminal/text/printable.ts'
import { notDefault } from '../effective.ts'

/** `records`: of this conversation, of all topics, in any order, possibly with repeats. */
export function timelineOf(
  conversation: ConversationId,
  records: readonly Logged[],
  options: Omit<TimelineOptions, 'differs'>,
): Timeline {
  const view = { ...viewOf(inOrder(records)), conversation }
  return conversationTimeline(view, { ...options, differs: oncePerVersion(notDefault) })
}

/** `number`: for people. Throws `usage`, with the numbers of the newest turns. */
export function turnNumbered({ conversation, turns }: Timeline, number: number): TurnTimeline {
  const found = turns.find((one) => one.number === number)
  if (found !== undefined) return found
  const there = turns.map((one) => one.number).slice(-10)
  const known =
    there.length === 0
      ? 'it has no turn'
      : `its ${there.length === turns.length ? '' : 'newest '}turns are ${there.join(', ')}`
  throw usageError(`conversation ${printable(conversation)} has no turn ${number}; ${known}`)
}

type Differs = TimelineOptions['differs']

/** The version is a hash of the policy's content. */
function oncePerVersion(differs: Differs): Differs {
  const known = new Map<string, ReturnType<Differs>>()
  return (policy) => {
    const values = known.get(policy.version) ?? differs(policy)
    known.set(policy.version, values)
    return values
  }
}
