// Starts the stages in the process of a program, with its guards and its rules for approvals.

import { personHere } from '../../services/approval/performer/person.ts'
import type { ApprovalSettings } from '../../services/approval/performer/registration.ts'
import type { RunningStages, StagesOptions } from '../../services/stages.ts'
import type { AnyGuard } from '../../shared/contract/guard/guard.ts'
import { topicSpecs } from '../../shared/contract/retention.ts'
import type { RunningGuards } from '../../shared/runtime/guards/start-guards.ts'
import { closedOnFailure } from './closed-on-failure.ts'

/** Guards that run in this process, and the calls that wait for a person. */
type StagesExtras = {
  guards?: { guards: readonly AnyGuard[]; mode?: 'shadow' | 'enforce' } | undefined
  approvals?: ApprovalSettings | undefined
}

/** Loads the stages on first use: loading takes time, and a client needs none of them. */
export async function runHere(
  options: StagesOptions,
  { guards: own, approvals }: StagesExtras,
): Promise<Pick<RunningStages, 'failed' | 'close'>> {
  const { startStages } = await import('../../services/stages.ts')
  if (own === undefined && approvals === undefined) return startStages(options)
  const { bus, topicPrefix, partitions, retentionMs } = options
  // Before the stages: no turn that was open continues without the guards.
  await bus.ensureTopics(topicSpecs(topicPrefix, partitions, retentionMs, options.auditMs))
  const guards = await startExtras(options, { guards: own, approvals })
  if (guards === undefined) return startStages(options)
  const stages = await closedOnFailure(guards, () => startStages(options))
  const failed = Promise.race([stages.failed, guards.failed])
  failed.catch(() => {}) // it may have no reader: no unhandled denial
  return {
    failed,
    async close() {
      await guards.close()
      await stages.close()
    },
  }
}

type BesideOptions = Pick<
  StagesOptions,
  'bus' | 'topicPrefix' | 'partitions' | 'retentionMs' | 'log'
>

/**
 * Starts the guards of this process next to the process that runs the stages. The calls wait for
 * them as if they ran there.
 */
export async function runBeside(
  options: BesideOptions,
  extras: StagesExtras,
): Promise<{ close(): Promise<void> }> {
  return (await startExtras(options, extras)) ?? { close: async () => {} }
}

async function startExtras(
  { bus, topicPrefix, partitions, retentionMs, log }: BesideOptions,
  { guards, approvals }: StagesExtras,
): Promise<RunningGuards | undefined> {
  if (approvals !== undefined) {
    const { keepApprovalRules } = await import('../../services/approval/performer/registration.ts')
    await keepApprovalRules({ bus, topicPrefix }, approvals, personHere())
  }
  if (guards === undefined) return undefined
  const { startGuards } = await import('../../shared/runtime/guards/start-guards.ts')
  return startGuards({ bus, topicPrefix, partitions, retentionMs, log, ...guards })
}
