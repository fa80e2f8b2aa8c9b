// Thinking that a server leaves in the visible text, between marks before the answer. It is never
// searched for calls.

import { isOver, skip, skipBlanks, upTo } from './readers/cursor.ts'

/**
 * `isOpened`: the model writes the opening mark itself. Other opening marks may be missing, because
 * chat templates write them into the prompt.
 */
type Marks = { open: string; close: string; isOpened?: true }

const marks: Marks[] = [
  { open: '<think>', close: '</think>' },
  { open: '<thinking>', close: '</thinking>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<mm:think>', close: '</mm:think>' }, // MiniMax M3
  { open: '<seed:think>', close: '</seed:think>' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' }, // Command A
  { open: '<|inner_prefix|>', close: '<|inner_suffix|>', isOpened: true }, // Apertus
  { open: '<|open|>think<|sep|>', close: '<|close|>think<|sep|>' }, // Kimi K3
  { open: '<|channel|>analysis<|message|>', close: '<|end|>', isOpened: true }, // harmony
  { open: '<|channel>thought', close: '<channel|>', isOpened: true }, // Gemma 4
]

/**
 * The text after the thinking. All of the text if it begins with none, and nothing if the thinking
 * has no end.
 */
export function withoutThinking(text: string): string {
  const cursor = { text, at: 0 }
  const ending = marks.find(
    // most texts have no mark, and then only one of both is searched
    ({ open, close, isOpened }) => !isOpened && text.includes(close) && !text.includes(open),
  )
  if (ending !== undefined) upTo(cursor, ending.close)
  for (;;) {
    skipBlanks(cursor)
    const begun = marks.find(({ open }) => skip(cursor, open))
    if (begun === undefined) return text.slice(cursor.at)
    if (isOver(cursor) || upTo(cursor, begun.close) === undefined) return ''
  }
}
