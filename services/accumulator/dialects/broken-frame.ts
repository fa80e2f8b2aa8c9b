// A frame that is used only for calls, and that holds an unreadable one.

import type { Reading, WrittenCall } from './dialect.ts'

/** `calls`: the readable calls before it. `why`: a clause for the model. */
export function brokenAfter(calls: WrittenCall[], why: string): Reading {
  return { kind: 'broken', names: calls.flatMap(({ names }) => names), why, marked: true }
}
