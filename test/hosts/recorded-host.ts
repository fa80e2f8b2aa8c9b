// The recorded requests and hook payloads of a host (record.ts).

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Recorded = {
  host: string
  version: string
  /** The requests to the model with tools, in order. */
  requests: { path: string; headers: Record<string, string>; body: Record<string, unknown> }[]
  /** The payloads of all hooks in their order, with the last part of their path. */
  hooks: { kind: string; body: Record<string, unknown> }[]
}

export function recordedHost(name: 'claude-code' | 'codex'): Recorded {
  const file = join(import.meta.dirname, 'recorded', `${name}.json`)
  return JSON.parse(readFileSync(file, 'utf8')) as Recorded
}
