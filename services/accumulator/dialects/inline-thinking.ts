// Thinking that a server leaves in the visible text, in tags before what the model says. Calls are never looked for inside of it.
//
// The opening tag may be missing: chat templates write it into the prompt.

import { isOver, skipBlanks, took, upTo } from './cursor.ts'

const tags: [string, string][] = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['[THINK]', '[/THINK]'],
]

/** What follows the thinking; all of a text that does not begin with any, nothing of one in which it has no end. */
export function withoutThinking(text: string): string {
  const cursor = { text, at: 0 }
  for (const [open, close] of tags) if (!text.includes(open) && upTo(cursor, close) !== undefined) break
  for (;;) {
    skipBlanks(cursor)
    const tag = tags.find(([open]) => took(cursor, open))
    if (tag === undefined) return text.slice(cursor.at)
    if (isOver(cursor) || upTo(cursor, tag[1]) === undefined) return ''
  }
}
