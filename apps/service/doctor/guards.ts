// Guards: the registered ones, and whether a process answers for each. A guard without a process
// stays in force, and its silence is a veto.

import type { LocalBus } from '../../../shared/bus/kind.ts'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { createLog } from '../../../shared/lib/log.ts'
import { isStage, modeOf, registeredGuards } from '../../../shared/runtime/guards/guard-registry.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withLog } from '../../history/open-log.ts'
import { type Check, odd, ok, skipped, wrongBy } from './check.ts'

export async function guardsCheck(settings: Settings): Promise<Check> {
  const name = 'guards'
  const kind = busKindOf(settings)
  try {
    const guards = await withLog(settings, registeredGuards)
    if (guards.length === 0) return ok(name, 'none is registered')
    const groupOf = (guard: string) => `${settings.topicPrefix}guard.${guard}`
    const apart = guards.filter((guard) => !isStage(guard.name))
    const all = guards.map((guard) => `${guard.name} ${modeOf(guard) ?? 'mixed'}`).join(', ')
    if (kind.isLocal) {
      const awaited = apart
        .filter((guard) => modeOf(guard) !== 'shadow')
        .map((guard) => `${guard.name} (${modeOf(guard) ?? 'mixed'})`)
      return awaited.length === 0
        ? ok(name, all)
        : awaitedHere(name, awaited.join(', '), kind, settings)
    }
    const members = await kind.membersOfGroups(
      settings,
      apart.map((guard) => groupOf(guard.name)),
      createLog({ level: 'silent' }),
    )
    const silent = apart.filter((guard) => (members.get(groupOf(guard.name)) ?? 0) === 0)
    if (silent.length === 0) return ok(name, all)
    const finding = `no process runs ${silent.map((guard) => `${guard.name} (${modeOf(guard) ?? 'mixed'})`).join(', ')}`
    return odd(
      name,
      finding,
      'start it (weir guard run), or remove it (weir guard remove): calls that wait for it are decided at its deadline',
    )
  } catch (error) {
    if (error instanceof WeirError && error.code === 'bus.topic-missing')
      return skipped(name, 'not checked until the topics exist')
    return wrongBy(name, error)
  }
}

/** A local bus knows no members. Without a writer no guard runs; otherwise it cannot be known. */
function awaitedHere(name: string, awaited: string, bus: LocalBus, settings: Settings): Check {
  if (bus.lockState(settings).kind !== 'free')
    return ok(
      name,
      `calls wait for ${awaited}; whether a process runs it beside the writer of the file cannot be checked from here`,
    )
  return odd(
    name,
    `calls wait for ${awaited}, and no process runs it now`,
    'run it with the stages (weir up --guard, weir ask --guard) or beside them (weir guard run), or switch it off (weir guard mode NAME shadow, weir guard remove NAME): its silence decides at its deadline',
  )
}
