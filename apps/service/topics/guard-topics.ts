// The topics of the guards that are registered on a cluster.

import { openBus } from '../../../client/place/open-bus.ts'
import type { TopicSpec } from '../../../shared/contract/bus.ts'
import { retentionMsOf } from '../../../shared/contract/retention.ts'
import { guardTopicSpec } from '../../../shared/contract/topology.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { registeredGuardNames } from '../../../shared/runtime/guards/guard-registry.ts'
import type { Settings } from '../../../shared/settings/settings.ts'

/** Short, because a person waits. */
const connectMs = 10_000

/** In the order of the names, including guards with unreadable registrations. Needs `policies`. */
export async function guardTopicsOn(settings: Settings): Promise<TopicSpec[]> {
  const bus = await openBus(settings, createLog({ level: 'silent' }), {
    connectMs,
    keepsTables: false,
  })
  try {
    return guardTopicsOf(
      await registeredGuardNames({ bus, topicPrefix: settings.topicPrefix }),
      settings,
    )
  } finally {
    await bus.close()
  }
}

export function guardTopicsOf(
  guards: readonly string[],
  { topicPrefix, partitions, retentionDays }: Settings,
): TopicSpec[] {
  return guards.map((guard) =>
    guardTopicSpec(topicPrefix, guard, partitions, retentionMsOf(retentionDays)),
  )
}
