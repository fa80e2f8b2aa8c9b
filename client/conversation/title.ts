// The title of a conversation. A program gives it; lists show it.

import { titleFault } from '../../shared/contract/history/title.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { TitleGiven } from '../../shared/contract/messages.ts'
import { titleKey } from '../../shared/contract/topology.ts'
import { messageError, WeirError } from '../../shared/lib/errors.ts'
import { shown } from '../../shared/settings/mistake.ts'
import { questionIn, titleIn } from '../history/histories.ts'
import type { Place } from '../turn/opening.ts'
import { turnsOf } from './conversation-turns.ts'
import { historyOf } from './history.ts'

/** Undefined: the conversation has neither a title nor a message. */
export async function titleOf(
  place: Place,
  conversation: ConversationId,
): Promise<string | undefined> {
  const { bus, topicPrefix, partition } = place
  const table = { topic: `${topicPrefix}history`, partition }
  const record = await bus.get({ ...table, key: titleKey(conversation), waitMs: 0 })
  const title = titleIn(record?.value ?? null)
  if (title) return title
  const { own } = await historyOf(place, conversation)
  const asked = own.filter(({ user }) => user !== null)
  const [first] = asked.sort((a, b) => a.turn - b.turn)
  return first?.user ? questionIn(conversation, first.user) : undefined
}

/** Throws `message.invalid`, and `conversation.unknown` before the first turn begins. */
export async function setTitle(
  { place, write }: { place: Place; write: (given: TitleGiven) => Promise<void> },
  conversation: ConversationId,
  title: string,
): Promise<void> {
  if (typeof title !== 'string') throw messageError(`title is ${shown(title)}; must be a text`)
  const fault = titleFault(title)
  if (fault !== undefined) throw messageError(`title ${fault}`)
  const turns = await turnsOf(place, conversation, { limit: 1, ends: false })
  if (turns.length === 0)
    throw new WeirError('conversation.unknown', 'there is no such conversation')
  await write({ type: 'title-given', conversation, title })
}
