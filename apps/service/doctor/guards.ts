// Guards: which are registered, and whether somebody answers for them. One that nobody runs stays
// in force, and its silence is a veto.

import { logFileIn } from '../../../client/open-bus.ts'
import { lockStateOf } from '../../../shared/bus/embedded/lock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { isStage, modeOf, registeredGuards } from '../../../shared/runtime/guards/register.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withLog } from '../../history/open-log.ts'
import { type Check, odd, ok, skipped, wrongBy } from './check.ts'

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
    const silent =
      members === undefined
        ? []
        : apart.filter((guard) => (members.get(groupOf(guard.name)) ?? 0) === 0)
    if (members === undefined) {
      const awaited = apart.filter((guard) => modeOf(guard) !== 'shadow')
      if (awaited.length > 0)
        return awaitedHere(
          name,
          awaited.map((guard) => `${guard.name} (${modeOf(guard) ?? 'mixed'})`).join(', '),
          settings,
        )
    }
    if (silent.length === 0)
      return ok(name, guards.map((guard) => `${guard.name} ${modeOf(guard) ?? 'mixed'}`).join(', '))
    const said = `nobody runs ${silent.map((guard) => `${guard.name} (${modeOf(guard) ?? 'mixed'})`).join(', ')}`
    return odd(
      name,
      said,
      'start it (weir guard run), or remove it (weir guard remove): calls that wait for it are decided at its deadline',
    )
  } catch (error) {
    if (error instanceof WeirError && error.code === 'bus.topic-missing')
      return skipped(name, 'not looked at until the topics are there')
    return wrongBy(name, error)
  }
}

/**
 * The embedded bus knows no members. Where nobody writes its file nobody runs a guard either; else
 * that cannot be seen from outside.
 */
function awaitedHere(name: string, awaited: string, settings: Settings): Check {
  if (lockStateOf(logFileIn(settings.dataFolder)).kind !== 'free')
    return ok(
      name,
      `calls wait for ${awaited}; whether somebody runs it beside the process that writes there cannot be seen from here`,
    )
  return odd(
    name,
    `calls wait for ${awaited}, and nobody runs it now`,
    'run it with the stages (weir up --guard, weir ask --guard) or beside them (weir guard run), or take it out (weir guard mode NAME shadow, weir guard remove NAME): its silence decides at its deadline',
  )
}
