// A module tool that notes its start before all other work: one line, one write, at the end of the
// file.

import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

let starts = 0

/**
 * @type {(args: { sleepMs?: number, fail?: boolean }, context: { idempotencyKey: string, signal:
 * AbortSignal }) => Promise<object>}
 */
export default async function note({ sleepMs = 0, fail = false }, { idempotencyKey, signal }) {
  const at = Date.now()
  starts += 1
  const start = `${process.pid}-${at}-${starts}`
  const { CHAOS_PROCESS, CHAOS_STARTS = '' } = process.env
  const line = {
    event: 'start',
    call: JSON.parse(idempotencyKey),
    tool: 'module',
    process: CHAOS_PROCESS,
    pid: process.pid,
    start,
    at,
  }
  appendFileSync(CHAOS_STARTS, `${JSON.stringify(line)}\n`)
  await sleep(sleepMs, undefined, { signal })
  appendFileSync(CHAOS_STARTS, `${JSON.stringify({ event: 'end', start, at: Date.now() })}\n`)
  if (fail) throw new Error('the notebook of the heron is full')
  return { start, of: 'heron' }
}
