// Runs the attempts of open rounds on one assigned partition, and the expiry of old histories
// (history-expiry.ts).
// LLM-GATEWAY-PERFORMER-1. Each round has one attempt at a time, and each task runs at most once.
//     After its result, the reducer wants the next key or nothing.
// LLM-GATEWAY-PERFORMER-2. A task that is no longer wanted is aborted and writes nothing more. So
//     if another owner's attempt fails, ours ends too, and both wait for the same retry.

import { limits } from '../../shared/contract/limits.ts'
import type { StartPerformer } from '../../shared/contract/performer.ts'
import { retentionMsOf } from '../../shared/contract/retention.ts'
import { createSlots } from '../../shared/lib/slots.ts'
import { createAcceptedForms } from './accepted-form.ts'
import { type Gateway, type GatewayOptions, runAttempt } from './attempt.ts'
import { startHistoryExpiry } from './history-expiry.ts'
import type { AttemptTask } from './reducer.ts'
import { noLongerWanted } from './wire/abortable-wait.ts'

/** `key`: the newest task of this round. `stop`: stops its attempt, while it runs. */
type RoundAtWork = { key: string; stop: AbortController | undefined }

/**
 * The gateway's side effects. `close` aborts in every case, because a grace period is too short for
 * a model's answer.
 */
export function startGateway(options: GatewayOptions): StartPerformer<AttemptTask> {
  const gateway: Gateway = {
    streams: createSlots(limits.modelStreamsMax),
    forms: createAcceptedForms(),
    ...options,
  }
  return (context) => {
    const expiry = startHistoryExpiry(context, options.historyIdleMs ?? retentionMsOf())
    const rounds = new Map<string, RoundAtWork>()
    const running = new Set<Promise<void>>()
    let isClosed = false

    function start(task: AttemptTask): RoundAtWork {
      const stop = new AbortController()
      const round: RoundAtWork = { key: task.key, stop }
      const attempt = runAttempt(gateway, context, task, stop.signal).finally(() => {
        running.delete(attempt)
        round.stop = undefined
      })
      running.add(attempt)
      return round
    }

    return {
      reconcile(unit, [task]) {
        const round = rounds.get(unit)
        if (isClosed || round?.key === task?.key) return
        round?.stop?.abort(noLongerWanted)
        if (task === undefined) rounds.delete(unit)
        else rounds.set(unit, start(task))
      },

      async close() {
        isClosed = true
        for (const { stop } of rounds.values()) stop?.abort(noLongerWanted)
        rounds.clear()
        await Promise.all([expiry.stop(), ...running])
      },
    }
  }
}
