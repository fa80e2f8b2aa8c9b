// The guards that an operator registers, changes and removes. Each registration names those before it, as
// the commands of Weir write it.

import { decode } from '../../../shared/codec/codec.ts'
import type { GuardInForce, GuardRegistration } from '../../../shared/contract/messages.ts'
import { guardKeyPrefix } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { firstOfName, replacing } from '../../../shared/runtime/guards/guard-registry.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import type { Broker } from '../broker.ts'
import type { Scheduler } from '../scheduler.ts'

/** Its first registration is older than the log, so the executor requires it in each round. */
const oldGuard = 'spend'
const oldMs = 3_600_000

export type Registrations = {
  register(guard: GuardInForce): void
  remove(name: string): void
}

export function openRegistrations({
  scheduler,
  broker,
  topicPrefix,
}: {
  scheduler: Scheduler
  broker: Broker
  topicPrefix: string
}): Registrations {
  const start = scheduler.now()
  const place = { topic: `${topicPrefix}policies`, partition: 0 }
  const newest = new Map<string, { message: GuardRegistration; time: Milliseconds }>()
  broker.onLanded(({ topic, key, value, time }) => {
    if (topic !== place.topic || !key.startsWith(guardKeyPrefix)) return
    const message = value === null ? undefined : decode(value)
    if (message?.type === 'guard-registration') newest.set(message.name, { message, time })
    else newest.delete(key.slice(guardKeyPrefix.length))
  })

  return {
    register(guard) {
      const before = newest.get(guard.name)
      const isOld = guard.name === oldGuard && scheduler.now() === start
      const first = isOld ? { firstAt: start - oldMs, replaced: [] } : firstOfName
      const earlier = before === undefined ? first : replacing(before, scheduler.now())
      const own = { registeredAt: start, setBy: '', ...earlier }
      const message = { type: 'guard-registration' as const, ...guard, ...own }
      broker.land([toRecord({ ...place, message })])
    },
    remove(name) {
      broker.land([{ ...place, key: guardKeyPrefix + name, value: null }])
    },
  }
}
