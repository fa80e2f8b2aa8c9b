// Opens the registry of guards for a command that changes it, next to running processes. On the
// embedded bus, a process that owns the data folder does the writing.

import { openBusBeside, partitionCount } from '../../client/place/open-bus.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { keptBy, topicSpecs } from '../../shared/contract/retention.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import type { Registry } from '../../shared/runtime/guards/guard-registry.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { assertLogExists } from './open-log.ts'

/** Short, because a person waits. */
const connectMs = 10_000

/**
 * As withRegistry, for commands that only change existing registrations. Creates no folder: throws
 * `bus.not-a-database` if there is no log.
 */
export async function withExistingRegistry<T>(
  settings: Settings,
  work: (registry: Registry & { bus: Bus }) => Promise<T>,
): Promise<T> {
  assertLogExists(settings)
  return withRegistry(settings, work)
}

/** Opens the bus for `work`, and always closes it. */
export async function withRegistry<T>(
  settings: Settings,
  work: (registry: Registry & { bus: Bus }) => Promise<T>,
): Promise<T> {
  const { topicPrefix, replicationFactor } = settings
  const bus = await openBusBeside(settings, createLog({ level: settings.logLevel }), {
    connectMs,
    replicationFactor,
    keepsTables: false,
  })
  try {
    await partitionCount(bus, topicPrefix).catch(async (error: unknown) => {
      // A registration may be the first record of a bus that creates its topics.
      if (
        !busKindOf(settings).ownsTopics ||
        !(error instanceof WeirError && error.code === 'bus.topic-missing')
      )
        throw error
      const { retentionMs, auditMs } = keptBy(settings)
      await bus.ensureTopics(topicSpecs(topicPrefix, settings.partitions, retentionMs, auditMs))
    })
    return await work({ bus, topicPrefix })
  } finally {
    await bus.close()
  }
}
