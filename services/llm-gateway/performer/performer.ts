// Runs the attempts of open rounds on one assigned partition, and the expiry of old histories
// (history-expiry.ts).
// Each round has one attempt at a time, and each task runs at most once.
// After its result, the reducer wants the next key or nothing.
// A task that is no longer wanted is aborted and writes nothing more. So
// if another owner's attempt fails, ours ends too, and both wait for the same retry.
// An attempt begins while model-opened is written, and its parts wait until the
// record is acknowledged: the accumulator keeps no part before it.

import { limits } from '../../../shared/contract/limits.ts'
import type { PolicyRecord, StartPerformer } from '../../../shared/contract/performer.ts'
import { createSlots } from '../../../shared/lib/slots.ts'
import { createBudgetReaders } from '../../../shared/runtime/budgets/budget-readers.ts'
import { createStopWatch } from '../../../shared/runtime/settings/stop-watch.ts'
import { stopOfTurn } from '../../../shared/runtime/settings/stops.ts'
import { stopsInForce } from '../../../shared/runtime/settings/stops-in-force.ts'
import type { AttemptTask } from '../reducer.ts'
import { createAcceptedForms } from './accepted-form.ts'
import { type Gateway, type GatewayOptions, runAttempt } from './attempt.ts'
import { startHistoryExpiry } from './history-expiry.ts'
import { StoppedByOperator, stopTarget } from './operator-stops.ts'
import { noLongerWanted } from './wire/abortable-wait.ts'

/** `task`: the newest of this round. `stop`: stops its attempt, while it runs. */
type RoundAtWork = { task: AttemptTask; stop: AbortController | undefined }

/**
 * The gateway's side effects. `close` aborts in every case, because a grace period is too short for
 * a model's answer.
 */
export function startGateway(options: GatewayOptions): StartPerformer<AttemptTask> {
  const gateway: Gateway = {
    streams: createSlots(limits.modelStreamsMax),
    forms: createAcceptedForms(),
    summaries: new Map(),
    ...options,
    budgets: options.budgets ?? createBudgetReaders(),
    weightOf: options.weightOf ?? (() => 1),
  }
  return (context) => {
    const { historyIdleMs } = options
    const expiry =
      historyIdleMs === undefined ? undefined : startHistoryExpiry(context, historyIdleMs)
    const rounds = new Map<string, RoundAtWork>()
    const running = new Set<Promise<void>>()
    const watch = createStopWatch({
      context,
      clock: context.machineClock ?? context.clock,
      hasWork: () => running.size > 0,
      found: stopNow,
    })
    const member = gateway.budgets.join()
    let isClosed = false
    /** Resolves when model-opened of the newest rounds is acknowledged. */
    let opened = Promise.withResolvers<void>()

    /** Ends the attempts that a stop at `now` concerns. */
    function stopNow(records: PolicyRecord[]): undefined {
      for (const { task, stop } of rounds.values()) {
        const stops = stopsInForce(records, stopTarget(task.request))
        const byOperator = typeof stops === 'string' ? undefined : stopOfTurn(stops)
        if (byOperator?.mode === 'now') stop?.abort(new StoppedByOperator(byOperator))
      }
    }

    function start(task: AttemptTask): RoundAtWork {
      const stop = new AbortController()
      const round: RoundAtWork = { task, stop }
      const attempt = runAttempt(
        { gateway, context, opened: opened.promise },
        task,
        stop.signal,
      ).finally(() => {
        running.delete(attempt)
        round.stop = undefined
      })
      running.add(attempt)
      watch.begin()
      return round
    }

    return {
      reconcile(unit, [task]) {
        const round = rounds.get(unit)
        if (isClosed || round?.task.key === task?.key) return
        round?.stop?.abort(noLongerWanted)
        if (task === undefined) rounds.delete(unit)
        else rounds.set(unit, start(task))
      },

      acknowledged() {
        opened.resolve()
        opened = Promise.withResolvers()
      },

      async close() {
        isClosed = true
        watch.close()
        for (const { stop } of rounds.values()) stop?.abort(noLongerWanted)
        rounds.clear()
        await Promise.all([expiry?.stop(), ...running])
        member.leave()
      },
    }
  }
}
