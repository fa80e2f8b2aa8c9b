// Thinking that a server leaves in the visible text, between marks before what the model says.
// Calls are never looked for inside of it.

import { isOver, skipBlanks, took, upTo } from './cursor.ts'

/**
 * `isOpened`: by the model itself; the others may lack their opening mark, because chat templates
 * write it into the prompt.
 */
type Marks = { open: string; close: string; isOpened?: true }

const marks: Marks[] = [
  { open: '<think>', close: '</think>' },
  { open: '<thinking>', close: '</thinking>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<|channel|>analysis<|message|>', close: '<|end|>', isOpened: true }, // harmony
  { open: '<|channel>thought', close: '<channel|>', isOpened: true }, // Gemma 4
]

/**
 * What follows the thinking; all of a text that does not begin with any, nothing of one in which it
 * has no end.
 */
export function withoutThinking(text: string): string {
  const cursor = { text, at: 0 }
  for (const { open, close, isOpened } of marks)
    if (!isOpened && !text.includes(open) && upTo(cursor, close) !== undefined) break
  for (;;) {
    skipBlanks(cursor)
    const begun = marks.find(({ open }) => took(cursor, open))
    if (begun === undefined) return text.slice(cursor.at)
    if (isOver(cursor) || upTo(cursor, begun.close) === undefined) return ''
  }
}
