// The parts that all routes of the console share: one piece of work at a time, and the body.

import { limits } from '../../../shared/contract/limits.ts'
import type { Slots } from '../../../shared/lib/slots.ts'
import type { EdgeContext } from '../edge/edge-context.ts'
import { bad } from '../http-error.ts'
import { jsonOf } from '../request-body.ts'
import type { HttpContext } from '../server.ts'

/** Waits for a slot. */
export async function within<T>(slots: Slots, work: () => Promise<T>): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<() => void>()
  slots.wait('console', resolve)
  const free = await promise
  try {
    return await work()
  } finally {
    free()
  }
}

export function bodyOf(context: HttpContext): Promise<Record<string, unknown>> {
  return jsonOf(context.env.incoming, limits.consoleBodyBytesMax)
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

/** Keeps CONSOLE-ROUTES-5 of console-routes.ts. */
export function isUnredacted(
  { principalOf }: Pick<EdgeContext, 'principalOf'>,
  { req }: HttpContext,
) {
  if (req.query('unredacted') !== 'true') return false
  principalOf(req.raw, 'unredacted')
  return true
}
