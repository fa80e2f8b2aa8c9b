// The topics of the guards that are registered on a cluster.

import type { TopicSpec } from '../../../shared/contract/bus.ts'
import { guardTopicSpec, retentionMsOf } from '../../../shared/contract/retention.ts'
import { registeredGuardNames } from '../../../shared/runtime/guards/guard-registry.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withTopicsBus } from './planned-partitions.ts'

/** In the order of the names, including guards with unreadable registrations. Needs `policies`. */
export function guardTopicsOn(settings: Settings): Promise<TopicSpec[]> {
  const { topicPrefix } = settings
  return withTopicsBus(settings, async (bus) =>
    guardTopicsOf(await registeredGuardNames({ bus, topicPrefix }), settings),
  )
}

export function guardTopicsOf(
  guards: readonly string[],
  { topicPrefix, partitions, retentionDays }: Settings,
): TopicSpec[] {
  return guards.map((guard) =>
    guardTopicSpec(topicPrefix, guard, partitions, retentionMsOf(retentionDays)),
  )
}
