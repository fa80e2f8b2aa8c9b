// Sends the metrics of a process to a backend of OpenTelemetry, by OTLP over HTTP. They are the metrics
// of /metrics, cumulative, so a request that fails loses nothing.

import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { systemClock } from '../../../shared/lib/clock.ts'
import { version } from '../../../shared/lib/version.ts'
import { type Backend, sendRequest } from '../../traces/send-spans.ts'
import type { Metrics } from './metrics.ts'

const everyMs = 10_000
/** The process waits for it at its end. */
const endMs = 2_000

/** Sends until `close`, which sends once more. Neither throws. */
export function pushMetrics(
  backend: Backend,
  { metrics, log }: { metrics: Pick<Metrics, 'all'>; log: Pick<Logger, 'warn'> },
): { close(): Promise<void> } {
  const since = systemClock.now()
  const resource = {
    'service.name': backend.serviceName,
    'service.version': version(),
    'service.instance.id': randomUUID(), // processes count separately
  }
  const closing = new AbortController()
  let stopWaiting = (): void => {}
  let sending: Promise<void> = Promise.resolve()

  async function send(signal: AbortSignal): Promise<void> {
    try {
      await sendAll(signal)
    } catch (error) {
      log.warn({ err: error }, 'the metrics cannot be read; the next ones have all')
    }
  }

  async function sendAll(signal: AbortSignal): Promise<void> {
    const all = await metrics.all()
    const at = systemClock.now()
    const request = { signal: 'metrics', resource, metrics: all, since, at } as const
    const fault = await sendRequest(backend, request, signal)
    if (fault !== undefined && !signal.aborted)
      log.warn(
        { reason: fault.reason },
        'the backend does not take metrics; the next ones have all',
      )
  }

  function sendLater(): void {
    stopWaiting = systemClock.after(everyMs, () => {
      sending = send(closing.signal).finally(() => {
        if (!closing.signal.aborted) sendLater()
      })
    })
  }

  sending = send(closing.signal).finally(sendLater)
  return {
    async close() {
      closing.abort()
      stopWaiting()
      await sending
      stopWaiting()
      await send(AbortSignal.timeout(endMs))
    },
  }
}
