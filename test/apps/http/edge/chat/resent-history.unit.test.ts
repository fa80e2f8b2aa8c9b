// The comparison of a resent history with the log.

import { describe, expect, it } from '@jest/globals'
import { type Exchange, isFork } from '../../../../../apps/http/edge/chat/resent-history.ts'
import type { ConversationTurn } from '../../../../../client/weir.ts'

type Turn = Pick<ConversationTurn, 'text' | 'end'>

const ended = (text: string, outcome: 'answered' | 'failed', reply: string): Turn => ({
  text,
  end: { outcome, reply } as NonNullable<ConversationTurn['end']>,
})
/** A turn for each text, with the reply `re TEXT`; `-TEXT` failed. The newest first. */
const log = (...texts: string[]): Turn[] =>
  texts
    .map((text) =>
      text.startsWith('-')
        ? ended(text.slice(1), 'failed', 'sorry')
        : ended(text, 'answered', `re ${text}`),
    )
    .reverse()
/** `text=answer`, or the text alone. */
const sent = (...texts: string[]): Exchange[] =>
  texts.map((one) => {
    const [text = '', answer] = one.split('=')
    return { text, ...(answer !== undefined && { answer }) }
  })

describe('a resent history', () => {
  it.each([
    ['is the whole one', sent('a', 'b'), log('a', 'b')],
    ['is missing', sent(), log('a', 'b')],
    ['is the newest part', sent('b'), log('a', 'b')],
    ['has a message that the log refused', sent('a', 'refused', 'b'), log('a', 'b')],
    ['has messages that are older than the log', sent('old', 'a'), log('a')],
    ['has the same text twice', sent('yes', 'yes'), log('yes', 'yes')],
    ['meets an empty log', sent('a'), []],
    ['has the answers too', sent('a=re a', 'b=re b'), log('a', 'b')],
    ['has the text of earlier rounds in front of an answer', sent('a=I look.\n\nre a'), log('a')],
    ['has other blanks', sent(' a \n b=re  a\tb'), log('a b')],
    ['has a failed message', sent('a=re a', 'b=sorry'), log('a', '-b')],
    ['lacks a failed message', sent('a=re a'), log('a', '-b')],
    ['has a message that has no end yet', sent('a'), [{ text: 'a', end: undefined }]],
  ])('that %s is no fork', (_, history, turns) => {
    expect(isFork(history, turns)).toBe(false)
  })

  it.each([
    ['lacks the newest message', sent('a'), log('a', 'b')],
    ['lacks one in between', sent('a', 'c'), log('a', 'b', 'c')],
    ['has another text', sent('x', 'b'), log('a', 'b')],
    ['has none of the texts', sent('x'), log('a')],
    ['has another answer', sent('a=changed'), log('a')],
  ])('that %s is a fork', (_, history, turns) => {
    expect(isFork(history, turns)).toBe(true)
  })
})
