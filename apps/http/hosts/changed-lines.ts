// The lines that an edit changes, for a person who accepts it.

import { commonEnds } from '../../../shared/lib/common-ends.ts'

const contextLines = 2

/** `-` removed, `+` added, with lines of context. Lines between two changes count as both. */
export function changedLines(before: string, after: string): string[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  const [start, end] = commonEnds(old, now)
  const from = Math.max(0, start - contextLines)
  return [
    ...old.slice(from, start).map((line) => `  ${line}`),
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...now.slice(start, now.length - end).map((line) => `+ ${line}`),
    ...now
      .slice(now.length - end)
      .slice(0, contextLines)
      .map((line) => `  ${line}`),
  ]
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/)
}
