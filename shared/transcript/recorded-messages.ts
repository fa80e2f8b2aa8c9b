// The format of the messages in a program's recorded sessions, which no request holds.

import type { Milliseconds } from '../lib/clock.ts'
import { exchangeReader } from './pieces.ts'
import type { Piece } from './transcript.ts'

/** `name`: of its files. `list`: the member with the messages. `title`: of the program, for people. */
export function recordedMessages({
  name,
  list,
  title,
  item,
}: {
  name: string
  list: string
  title: string
  item: (value: unknown, where: string) => Piece[]
}) {
  return {
    read: exchangeReader({
      lists: [list],
      missing: `has no ${list}; must be a session of ${title}`,
      item,
      answer: item,
      tools: () => undefined,
    }),
    answer: item,
    answerName: `a message of ${title}`,
    lists: [list],
    file: { name, item, prefills: false },
  }
}

/** The time of a piece, from milliseconds or ISO 8601. Empty: unknown. */
export function timeOf(value: unknown): { at?: Milliseconds } {
  const at = typeof value === 'string' ? Date.parse(value) : value
  return typeof at === 'number' && Number.isFinite(at) ? { at } : {}
}
