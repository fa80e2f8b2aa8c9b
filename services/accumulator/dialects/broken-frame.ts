// A frame that is used for nothing but calls, and in which one cannot be read.

import type { Reading, WrittenCall } from './dialect.ts'

/** `calls`: those before it, which could be read. `why`: for the model, a clause. */
export function brokenAfter(calls: WrittenCall[], why: string): Reading {
  return { kind: 'broken', names: calls.flatMap(({ names }) => names), why, marked: true }
}
