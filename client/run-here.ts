// Starts the stages in the process of a program, with its guards and its rules for approvals.

import type { ApprovalSettings } from '../services/approval/registration.ts'
import type { RunningStages, StagesOptions } from '../services/stages.ts'
import type { Guard } from '../shared/contract/guard.ts'
import { retentionMsOf } from '../shared/contract/retention.ts'
import { topicSpecs } from '../shared/contract/topology.ts'

/** Guards that run in this process, and the calls that wait for a person. */
type StagesExtras = {
  guards?: { guards: readonly Guard[]; mode?: 'shadow' | 'enforce' } | undefined
  approvals?: ApprovalSettings | undefined
}

/** Loads the stages on first use: loading takes time, and a client needs none of them. */
export async function runHere(
  options: StagesOptions,
  { guards: own, approvals }: StagesExtras,
): Promise<Pick<RunningStages, 'failed' | 'close'>> {
  const { startStages } = await import('../services/stages.ts')
  if (own === undefined && approvals === undefined) return startStages(options)
  const { bus, topicPrefix, partitions, retentionMs = retentionMsOf(), log } = options
  // Before the stages: no turn that was open goes on without the guards.
  await bus.ensureTopics(topicSpecs(topicPrefix, partitions, retentionMs))
  if (approvals !== undefined) {
    const { keepApprovalRules } = await import('../services/approval/registration.ts')
    await keepApprovalRules({ bus, topicPrefix }, approvals)
  }
  if (own === undefined) return startStages(options)
  const { startGuards } = await import('../shared/runtime/guards/start-guards.ts')
  const guards = await startGuards({ bus, topicPrefix, partitions, retentionMs, log, ...own })
  const stages = await startStages(options).catch(async (error: unknown) => {
    await guards.close()
    throw error
  })
  const failed = Promise.race([stages.failed, guards.failed])
  failed.catch(() => {}) // it may have no reader: no unhandled rejection
  return {
    failed,
    async close() {
      await guards.close()
      await stages.close()
    },
  }
}
