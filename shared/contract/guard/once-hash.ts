// The values of a call of a tool that must not run twice, as a hash.

import { hash } from 'node:crypto'
import { readArguments } from '../identity/arguments.ts'
import type { OnceRule, ToolHints } from '../messages.ts'

/** A hash of the place, the tool and the values that count. Without `by`, the arguments that identify a call. */
export function onceHash(
  { name, rawArguments, hints }: { name: string; rawArguments: string; hints: ToolHints | null },
  { by }: Pick<OnceRule, 'by'>,
  ...place: string[]
): string {
  const identity: Pick<ToolHints, 'ignoreFields' | 'loopKey'> | null =
    by.length === 0 ? hints : { ignoreFields: [], loopKey: by }
  const { canonical } = readArguments(rawArguments, identity)
  return shortHash(JSON.stringify([...place, name, canonical]))
}

/** 128 bits of SHA-256. */
export function shortHash(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22)
}
