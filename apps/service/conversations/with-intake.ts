// Opens a log for a command that sends a request through intake. On a data folder without a running
// Weir, this process runs intake, the one stage that takes such a request.
// Here: commands that write about a conversation. Not here: lists of conversations
// (apps/history/conversations).

import { joinFleet } from '../../../client/place/fleet.ts'
import { openBus, openBusBeside, partitionCount } from '../../../client/place/open-bus.ts'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { retentionMsOf } from '../../../shared/contract/retention.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { assertLogExists } from '../../history/open-log.ts'

/** Throws `bus.not-a-database` if there is no log. */
export async function withIntake<Value>(
  settings: Settings,
  work: (table: { bus: Bus; topicPrefix: string }) => Promise<Value>,
): Promise<Value> {
  assertLogExists(settings)
  const { topicPrefix, retentionDays } = settings
  const log = createLog({ level: settings.logLevel })
  const owned = busKindOf(settings).isLocal ? await openOwned() : undefined
  const bus = owned ?? (await openBusBeside(settings, log, { keepsTables: false }))
  try {
    if (owned === undefined) return await work({ bus, topicPrefix })
    const partitions = await partitionCount(bus, topicPrefix)
    const retentionMs = retentionMsOf(retentionDays)
    await joinFleet({ bus, settings, log })
    const { startStages } = await import('../../../services/stages.ts')
    const place = { bus, topicPrefix, partitions, retentionMs, log }
    const stages = await startStages({ ...place, agents: new Map(), names: ['intake'] })
    try {
      return await work({ bus, topicPrefix })
    } finally {
      await stages.close()
    }
  } finally {
    await bus.close()
  }

  /** Undefined: another process has the data folder. */
  async function openOwned(): Promise<Bus | undefined> {
    try {
      return await openBus(settings, log)
    } catch (error) {
      if (error instanceof WeirError && error.code === 'bus.locked') return undefined
      throw error
    }
  }
}
