// Guards: the registered ones, and whether a process answers for each. A guard without a process
// stays in force, and its silence is a veto.

import { ownerState } from '../../../client/place/stage-host.ts'
import type { LocalBus } from '../../../shared/bus/kind.ts'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import type { GuardRegistration } from '../../../shared/contract/messages.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { isStage, modeOf, registeredGuards } from '../../../shared/runtime/guards/guard-registry.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withLog } from '../../history/open-log.ts'
import { type Check, ok, skipped, warning, wrongBy } from './check.ts'

export async function guardsCheck(settings: Settings): Promise<Check> {
  const name = 'guards'
  const kind = busKindOf(settings)
  try {
    const guards = await withLog(settings, registeredGuards)
    if (guards.length === 0) return ok(name, 'none is registered')
    const groupOf = (guard: string) => `${settings.topicPrefix}guard.${guard}`
    const apart = guards.filter((guard) => !isStage(guard.name))
    const all = guards.map((guard) => `${guard.name} ${modeOf(guard) ?? 'mixed'}`).join(', ')
    if (kind.isLocal) return await guardsOfFolder(name, { apart, all, kind, settings })
    const groups = await kind.groups(settings, createLog({ level: 'silent' }))
    const members = await groups.members(apart.map((guard) => groupOf(guard.name)))
    const silent = apart.filter((guard) => (members.get(groupOf(guard.name)) ?? 0) === 0)
    if (silent.length === 0) return ok(name, all)
    const finding = `no process runs ${silent.map((guard) => `${guard.name} (${modeOf(guard) ?? 'mixed'})`).join(', ')}`
    return warning(
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

/** The owner of the folder knows the guards in its process and in the processes next to it. */
async function guardsOfFolder(
  name: string,
  parts: { apart: GuardRegistration[]; all: string; kind: LocalBus; settings: Settings },
): Promise<Check> {
  const { apart, all, kind, settings } = parts
  const inForce = apart.filter((guard) => modeOf(guard) !== 'shadow')
  const listed = (guards: GuardRegistration[]) =>
    guards.map((guard) => `${guard.name} (${modeOf(guard) ?? 'mixed'})`).join(', ')
  if (kind.lockState(settings).kind === 'free')
    return inForce.length === 0
      ? ok(name, all)
      : warning(name, `calls wait for ${listed(inForce)}, and no process runs it now`, remedy)
  const state = await ownerState(kind, settings).catch(() => undefined)
  if (state === undefined)
    return ok(
      name,
      inForce.length === 0
        ? all
        : `calls wait for ${listed(inForce)}; the process that writes the file does not tell which guards run`,
    )
  const running = [state, ...state.beside]
  const answering = apart.flatMap((guard) => {
    const pids = running.filter(({ guards }) => guards.includes(guard.name)).map(({ pid }) => pid)
    return pids.length === 0 ? [] : [`${guard.name} runs in process ${pids.join(' and ')}`]
  })
  const silent = inForce.filter(
    (guard) => !running.some(({ guards }) => guards.includes(guard.name)),
  )
  if (silent.length > 0)
    return warning(name, `calls wait for ${listed(silent)}, and no process runs it now`, remedy)
  return ok(name, [all, ...answering].join('; '))
}

const remedy =
  'run it with the stages (weir up --guard, weir ask --guard) or next to them (weir guard run), or switch it off (weir guard mode NAME shadow, weir guard remove NAME): its silence decides at its deadline'
