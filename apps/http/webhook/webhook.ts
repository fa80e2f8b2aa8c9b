// Sends events to the operator's webhook, signed as Standard Webhooks (standardwebhooks.com): the
// headers webhook-id, webhook-timestamp and webhook-signature, HMAC-SHA-256.
// Delivery is at least once, within `limits.webhookTriesMax` tries. The receiver drops
// repeats by webhook-id.
// At most `limits.webhookQueueMax` events wait. Further ones are dropped and counted in the
// log. The log has the host of the URL only: a path can be a secret.
// No redirect is followed, and no body of an answer is read. 410 turns the webhook off.

import type { Logger } from 'pino'
import { Webhook as Signer } from 'standardwebhooks'
import { limits } from '../../../shared/contract/limits.ts'
import type { Clock } from '../../../shared/lib/clock.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { remember } from '../../../shared/lib/recency.ts'
import { createSlots } from '../../../shared/lib/slots.ts'
import { isLoopback } from '../server.ts'
import type { WebhookEvent } from './webhook-events.ts'

/**
 * The first pause between two tries, the time of a request, the ids that are kept, and the oldest
 * events of a new server.
 */
const webhookRetryMs = 1_000
const webhookMs = 10_000
const webhookSeenMax = 10_000
export const webhookLateMs = 10 * 60_000

/** `secret`: base64, with or without `whsec_` in front. */
export type WebhookOptions = { url: URL; secret: string }

export type Webhook = {
  /** Never throws. An event whose id was sent lately is dropped. */
  send(event: WebhookEvent): void
  /** Ends requests and further tries. */
  close(): void
}

export function openWebhook(
  { url, secret }: WebhookOptions,
  { log, clock }: { log: Logger; clock: Pick<Clock, 'now' | 'after'> },
): Webhook {
  const sign = signerOf(secret)
  const { host } = url
  const closing = new AbortController()
  const slots = createSlots(limits.webhookRequestsMax)
  const seen = new Set<string>()
  const waiting = new Set<() => void>()
  let queued = 0
  let isOff = false

  function deliver(event: WebhookEvent, tries: number): void {
    slots.wait('webhook', (free) => {
      void attempt(event)
        .then((outcome) => ended(event, tries, outcome))
        .finally(free)
    })
  }

  /** Undefined: delivered. A text: the fault. */
  async function attempt(event: WebhookEvent): Promise<string | undefined> {
    if (isOff || closing.signal.aborted) return undefined
    const { id, ...content } = event
    const body = JSON.stringify(content)
    const at = new Date(clock.now())
    try {
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'error',
        body,
        headers: {
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
          'webhook-signature': sign(id, at, body),
        },
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(webhookMs)]),
      })
      await response.body?.cancel()
      if (response.status === 410) {
        isOff = true
        log.warn({ host }, 'the webhook answered 410: no further event is sent')
        return undefined
      }
      return response.ok ? undefined : `status ${response.status}`
    } catch (error) {
      return error instanceof Error ? error.name : 'it cannot be reached'
    }
  }

  function ended(event: WebhookEvent, tries: number, fault: string | undefined): void {
    if (fault === undefined || closing.signal.aborted) {
      queued -= 1
      return
    }
    const about = { host, event: event.type, id: event.id, fault, tries }
    if (tries >= limits.webhookTriesMax) {
      queued -= 1
      log.warn(about, 'an event could not be sent to the webhook and is dropped')
      return
    }
    log.debug(about, 'an event could not be sent to the webhook and will be retried')
    const stop = clock.after(webhookRetryMs * 4 ** (tries - 1), () => {
      waiting.delete(stop)
      deliver(event, tries + 1)
    })
    waiting.add(stop)
  }

  return {
    send(event) {
      if (isOff || closing.signal.aborted || seen.has(event.id)) return
      if (queued >= limits.webhookQueueMax) {
        log.warn({ host, event: event.type, id: event.id }, 'too many events wait: one is dropped')
        return
      }
      remember(seen, event.id, webhookSeenMax)
      queued += 1
      deliver(event, 1)
    },
    close() {
      closing.abort()
      for (const stop of waiting) stop()
    },
  }
}

/** Checks the address and the secret. `name`: of the address, for errors. Throws `usage`. */
export function webhookOptionsOf(address: string, secret: string, name: string): WebhookOptions {
  const url = URL.parse(address)
  const isPlain = url?.protocol === 'http:' && isLoopback(url.hostname)
  if (url === null || (url.protocol !== 'https:' && !isPlain))
    throw usageError(
      `${name} must be an https URL; http is for this machine only, such as http://127.0.0.1:8080/weir`,
    )
  if (url.username !== '' || url.password !== '')
    throw usageError(`${name} has a user name or a password: leave it out`)
  signerOf(secret)
  return { url, secret }
}

/** Throws `usage`. The error holds no part of the secret. */
function signerOf(secret: string): (id: string, at: Date, body: string) => string {
  const given = secret.trim().replace(/^whsec_/, '')
  if (!/^[A-Za-z0-9+/]+=*$/.test(given) || Buffer.from(given, 'base64').length < 24)
    throw usageError(
      'the secret of the webhook must be base64 of 24 bytes or more, with or without whsec_ in front',
    )
  const signer = new Signer(given)
  return (id, at, body) => signer.sign(id, at, body)
}
