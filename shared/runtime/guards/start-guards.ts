// Registers guards and runs them in this process until they are closed.

import type { Logger } from 'pino'
import type { Bus, Subscription } from '../../contract/bus.ts'
import type { AnyGuard } from '../../contract/guard/guard.ts'
import type { GuardInForce, GuardMode } from '../../contract/messages.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import type { GuardInstruments } from './guard-instruments.ts'
import { modeOf, registerGuard } from './guard-registry.ts'
import { runGuard } from './run-guard.ts'

export type StartGuardsOptions = {
  bus: Bus
  topicPrefix: string
  partitions: number
  /** Of its topic. Undefined: until somebody deletes the records. */
  retentionMs: Milliseconds | undefined
  guards: readonly AnyGuard[]
  /** The mode of all guards; default: the registered mode, or `shadow` for a new guard. */
  mode?: GuardMode | undefined
  replace?: boolean
  log: Logger
  instruments?: GuardInstruments | undefined
}

export type RunningGuards = {
  readonly inForce: readonly GuardInForce[]
  /** By guard name. */
  readonly subscriptions: ReadonlyMap<string, Subscription>
  /** Rejects with the first guard that stops by an error; never resolves. */
  readonly failed: Promise<never>
  close(): Promise<void>
}

/** Errors: `guard.invalid`, `guard.taken`, and those of the bus. */
export async function startGuards({
  guards,
  log,
  instruments,
  mode,
  replace = false,
  ...place
}: StartGuardsOptions): Promise<RunningGuards> {
  const subscriptions = new Map<string, Subscription>()
  const inForce: GuardInForce[] = []
  const close = async () => {
    await Promise.all([...subscriptions.values()].map((subscription) => subscription.close()))
  }
  try {
    for (const guard of guards) {
      const registered = await registerGuard({ ...place, guard, mode, replace })
      inForce.push(registered)
      subscriptions.set(guard.name, await runGuard(guard, { ...place, log, instruments }))
      log.info(
        { guard: guard.name, version: guard.version, mode: modeOf(registered) ?? 'mixed' },
        'guard started',
      )
    }
  } catch (error) {
    await close().catch(() => {}) // the first error says more
    throw error
  }
  const failed = Promise.race([
    ...[...subscriptions.values()].map((subscription) => subscription.failed),
    new Promise<never>(() => {}),
  ])
  failed.catch(() => {}) // a caller that ignores it must not crash
  return { inForce, subscriptions, failed, close }
}
