// The parts that all routes of the console share: one piece of work at a time, and the body.

import type { Slots } from '../../../shared/lib/slots.ts'
import type { EdgeContext } from '../edge/edge-context.ts'
import { interrupted } from '../edge/edge-errors.ts'
import { bad } from '../http-error.ts'
import { jsonOf } from '../request-body.ts'
import type { HttpContext } from '../server.ts'

/** Bytes of a request to the console. */
const consoleBodyBytesMax = 64 * 1024

type Answer = {
  readonly destroyed: boolean
  once(event: 'close', leave: () => void): unknown
  off(event: 'close', leave: () => void): unknown
}

/**
 * Waits for a slot, in a line of callers. `outgoing`: the answer to a client. Throws 503 if the client
 * leaves while it waits.
 */
export async function within<T>(
  slots: Slots,
  work: () => Promise<T>,
  { line = 'console', outgoing }: { line?: string; outgoing?: Answer } = {},
): Promise<T> {
  if (outgoing?.destroyed) throw interrupted()
  const { promise, resolve, reject } = Promise.withResolvers<() => void>()
  const leaveLine = slots.wait(line, resolve)
  const leave = () => {
    leaveLine()
    reject(interrupted())
  }
  outgoing?.once('close', leave)
  const free = await promise
  outgoing?.off('close', leave)
  try {
    return await work()
  } finally {
    free()
  }
}

export function bodyOf(context: HttpContext): Promise<Record<string, unknown>> {
  return jsonOf(context.env.incoming, consoleBodyBytesMax)
}

/** Throws 400. */
export function oneOf<T extends string>(
  body: Record<string, unknown>,
  name: string,
  accepted: readonly T[],
): T {
  const value = accepted.find((one) => one === body[name])
  if (value !== undefined) return value
  throw bad(`${name} must be one of ${accepted.join(', ')}`)
}

/** The rule stands in console-routes.ts. */
export function isUnredacted(
  { principalOf }: Pick<EdgeContext, 'principalOf'>,
  { req }: HttpContext,
) {
  if (req.query('unredacted') !== 'true') return false
  principalOf(req.raw, 'unredacted')
  return true
}
