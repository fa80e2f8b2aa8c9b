// Guards: which are registered, and whether somebody answers for them. One that nobody runs stays in force, and its silence is a veto.

import { WeirError } from '../../../shared/errors.ts'
import { isStage, modeOf, registeredGuards } from '../../../shared/guards/register.ts'
import type { Settings } from '../../../shared/settings.ts'
import { withLog } from '../open-log.ts'
import type { Check } from './check.ts'
import { odd, ok, skipped, wrongBy } from './check.ts'

/** `membersOf`: how many processes each consumer group has; absent where the bus does not know. */
export async function guardsCheck(
  settings: Settings,
  membersOf?: (groups: string[]) => Promise<ReadonlyMap<string, number>>,
): Promise<Check> {
  const name = 'guards'
  try {
    const guards = await withLog(settings, registeredGuards)
    if (guards.length === 0) return ok(name, 'none is registered')
    const groupOf = (guard: string) => `${settings.topicPrefix}guard.${guard}`
    const apart = guards.filter((guard) => !isStage(guard.name))
    const members = await membersOf?.(apart.map((guard) => groupOf(guard.name)))
    const silent = members === undefined ? [] : apart.filter((guard) => (members.get(groupOf(guard.name)) ?? 0) === 0)
    if (silent.length === 0) return ok(name, guards.map((guard) => `${guard.name} ${modeOf(guard) ?? 'mixed'}`).join(', '))
    const said = `nobody runs ${silent.map((guard) => `${guard.name} (${modeOf(guard) ?? 'mixed'})`).join(', ')}`
    return odd(
      name,
      said,
      'start it (weir guard run), or remove it (weir guard remove): calls that wait for it are decided at its deadline',
    )
  } catch (error) {
    if (error instanceof WeirError && error.code === 'bus.topic-missing') return skipped(name, 'not looked at until the topics are there')
    return wrongBy(name, error)
  }
}
