// Requests to models wait for the limits of their provider's account, together with all gateways of the log.
// Reads: headers of requests and answers. Owns: the credential of a request, which stays in this process.
// A request waits for a bounded time. Then its client gets 429 with Retry-After, and
// the provider gets nothing.

import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { SlotOf } from '../../../../client/guard/log/fronts.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { defaultTenant } from '../../../../shared/contract/tenant.ts'
import type { Clock } from '../../../../shared/lib/clock.ts'
import { type Slot, unknownEnd } from '../../../../shared/runtime/budgets/account-lines.ts'
import { shownLimit } from '../../../../shared/wire/faults/provider-errors.ts'
import { HttpError } from '../../http-error.ts'
import { clientKey } from './client-key.ts'
import type { Upstream } from './upstream.ts'

/** A later start is not planned. So requests of a killed proxy use up no more starts than these. */
const plannedMsMax = 2 * limits.proxySlotWaitMs

export function slottedUpstream(
  upstream: Upstream,
  { slotOf, clock }: { slotOf: SlotOf; clock: Clock },
): Upstream {
  const server = new URL(upstream.url).origin

  async function startOf(key: string, model: string, signal: AbortSignal): Promise<Slot> {
    const late = new AbortController()
    const begun = clock.now()
    let startMs = plannedMsMax
    const cancel = clock.after(limits.proxySlotWaitMs, () => late.abort())
    try {
      const slot = await slotOf(
        {
          account: { server, key, model },
          tenant: defaultTenant,
          share: 1,
          attempt: randomUUID(),
          expiresAt: begun + plannedMsMax,
        },
        {
          stop: AbortSignal.any([signal, late.signal]),
          onWait: ({ waitMs }) => {
            startMs = waitMs
          },
        },
      )
      if (signal.aborted) await slot?.settle(unknownEnd)
      signal.throwIfAborted()
      if (slot !== undefined && !slot.isRefused) return slot
      throw tooLong(startMs - (clock.now() - begun))
    } finally {
      cancel()
    }
  }

  return {
    ...upstream,
    async send(request) {
      const { model, headers, signal } = request
      if (model === undefined) return upstream.send(request)
      const slot = await startOf(credentialIn(headers, upstream), model, signal)
      try {
        const received = await upstream.send(request)
        const shown = shownLimit(received.statusCode ?? 502, headersOf(received))
        const end = { ...unknownEnd, ...shown }
        if (shown.refusedBy !== null) await slot.settle(end)
        else received.once('close', () => void slot.settle(end))
        return received
      } catch (error) {
        await slot.settle(unknownEnd)
        throw error
      }
    },
  }
}

/** Empty: the request has none, or Weir signs it. */
function credentialIn(raw: readonly string[], { signs }: Upstream): string {
  const { key, isSignature } = clientKey((name) => {
    const at = raw.findIndex((one, n) => n % 2 === 0 && one.toLowerCase() === name)
    return at < 0 ? undefined : raw[at + 1]
  })
  return signs && isSignature ? '' : key
}

function headersOf({ headers }: IncomingMessage): Headers {
  const texts = Object.entries(headers).filter(([, value]) => typeof value === 'string')
  return new Headers(texts as [string, string][])
}

function tooLong(waitMs: number): HttpError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new HttpError(
    429,
    'proxy.limited',
    `the provider limits this account, and other requests wait too: try again in ${seconds} s`,
    { type: 'rate_limit_error', headers: { 'retry-after': `${seconds}` } },
  )
}
