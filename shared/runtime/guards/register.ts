// Registering guards: the records in `policies` that put one in force, switch its mode and remove
// it, and the topic that it writes to.
// GUARDS-REGISTER-1. One name is one guard. Who registers another version under it must say so; the
//     mode that an operator has set stays through that.
// GUARDS-REGISTER-2. The topic comes first: a guard that is in force must be able to answer.

import { decode } from '../../codec/codec.ts'
import { approvalGuard } from '../../contract/approval-guard.ts'
import type { Bus } from '../../contract/bus.ts'
import type { Guard } from '../../contract/guard.ts'
import { isGuardName, registrationFault } from '../../contract/guard-registration.ts'
import { limits } from '../../contract/limits.ts'
import type {
  GuardedTools,
  GuardInForce,
  GuardMode,
  GuardRegistration,
} from '../../contract/messages.ts'
import { guardKeyPrefix, guardTopicName, guardTopicSpec, topics } from '../../contract/topology.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { toRecord } from '../record.ts'

export type Registry = {
  bus: Pick<Bus, 'append' | 'ensureTopics' | 'list' | 'clock'>
  topicPrefix: string
}

/** All that can be read, by name. Throws `policies.unreadable` for one that cannot. */
export async function registeredGuards({
  bus,
  topicPrefix,
}: Registry): Promise<GuardRegistration[]> {
  const records = await bus.list({
    topic: `${topicPrefix}policies`,
    partition: 0,
    prefix: guardKeyPrefix,
  })
  return records.flatMap(({ key, value }) => {
    if (value === null) return []
    const message = decode(value)
    if (message.type === 'guard-registration') return [message]
    throw new WeirError(
      'policies.unreadable',
      `the record ${key} in policies is a ${message.type}; remove it with weir guard remove`,
    )
  })
}

/**
 * Of the guards that have a topic and a group of their own; also of those whose registration cannot
 * be read.
 */
export async function registeredGuardNames({
  bus,
  topicPrefix,
}: {
  bus: Pick<Bus, 'list'>
  topicPrefix: string
}): Promise<string[]> {
  const records = await bus.list({
    topic: `${topicPrefix}policies`,
    partition: 0,
    prefix: guardKeyPrefix,
  })
  return records
    .map(({ key }) => key.slice(guardKeyPrefix.length))
    .filter((name) => isGuardName(name) && !isStage(name))
}

/**
 * A stage of Weir that answers as a guard: its topic is among the others, and its group is the
 * stage's.
 */
export function isStage(guard: string): boolean {
  return guardTopicName(guard) in topics
}

/** What is registered of a guard, whoever runs it. */
export type RegisteredGuard = Pick<Guard, 'name' | 'version' | 'tools' | 'deadlineMs' | 'onTimeout'>

export type RegisterOptions = Registry & {
  partitions: number
  retentionMs: Milliseconds
  guard: RegisteredGuard
  /** For all its tools; default: that which it has, and `shadow` for a new one. */
  mode?: GuardMode | undefined
  /** For single patterns of tools, before `mode`. */
  modes?: ReadonlyMap<string, GuardMode | undefined>
  /** Another version, or other tools, may take the place of what is registered. */
  replace: boolean
}

/**
 * Puts the guard in force, from the next model response on. A guard that is registered just so is
 * another instance, and nothing is written. Throws `guard.invalid` (the guard cannot be used),
 * `guard.taken` (its name is another's).
 */
export async function registerGuard({
  bus,
  topicPrefix,
  partitions,
  retentionMs,
  guard,
  mode,
  modes,
  replace,
}: RegisterOptions): Promise<GuardInForce> {
  if (guard.name === approvalGuard)
    throw new WeirError(
      'guard.taken',
      `${approvalGuard} is Weir's own guard; give this one another name`,
    )
  const others = await registeredGuards({ bus, topicPrefix })
  const known = others.find(({ name }) => name === guard.name)
  const wanted = inForceOf(
    guard,
    (pattern) =>
      modes?.get(pattern) ??
      mode ??
      known?.tools.find((tools) => tools.pattern === pattern)?.mode ??
      modeOf(known) ??
      'shadow',
  )
  const fault = registrationFault(wanted)
  if (fault !== undefined)
    throw new WeirError('guard.invalid', `the guard cannot be used: ${fault}`)
  const odd = guard.tools.find((pattern) => /[\s=]/.test(pattern))
  if (odd !== undefined)
    throw new WeirError(
      'guard.invalid',
      `the guard cannot be used: its pattern ${JSON.stringify(odd)} matches no tool, names have no blanks and no =`,
    )
  if (known === undefined && others.length >= limits.guardsMax)
    throw new WeirError(
      'guard.invalid',
      `${others.length} guards are registered, and more are not taken: remove one (weir guard remove)`,
    )
  if (known !== undefined && !replace) {
    const difference = differenceOf(known, wanted)
    if (difference !== undefined)
      throw new WeirError(
        'guard.taken',
        `there is a guard ${guard.name} already, and ${difference}. Give this one another name, or let it take the other's place with --replace`,
      )
  }
  await bus.ensureTopics([guardTopicSpec(topicPrefix, guard.name, partitions, retentionMs)])
  if (known === undefined || !isSame(known, wanted))
    await writeRegistration({ bus, topicPrefix }, wanted)
  return wanted
}

/**
 * Switches the mode for all tools of the guard, or for those of the `patterns` that it was
 * registered with. Throws `guard.unknown`.
 */
export async function switchGuard(
  registry: Registry,
  name: string,
  mode: GuardMode,
  patterns: string[] = [],
): Promise<GuardInForce> {
  const known = await registered(registry, name)
  const unknown = patterns.find(
    (pattern) => !known.tools.some((tools) => tools.pattern === pattern),
  )
  if (unknown !== undefined)
    throw new WeirError(
      'guard.unknown',
      `guard ${name} has no pattern ${unknown}; it has ${known.tools.map(({ pattern }) => pattern).join(', ')}`,
    )
  const tools = known.tools.map((tools) =>
    patterns.length === 0 || patterns.includes(tools.pattern) ? { ...tools, mode } : tools,
  )
  const { version, deadlineMs, onTimeout, rules } = known
  const wanted = { name, version, tools, deadlineMs, onTimeout, rules }
  await writeRegistration(registry, wanted)
  return wanted
}

/**
 * Rounds that wait for it still do, until their deadlines. Its topic stays, with what it said.
 * Throws `guard.unknown`.
 */
export async function removeGuard(registry: Registry, name: string): Promise<void> {
  const { bus, topicPrefix } = registry
  const topic = `${topicPrefix}policies`
  const key = guardKeyPrefix + name
  // By its key, so that a registration that cannot be read can be removed too.
  const there = await bus.list({ topic, partition: 0, prefix: key })
  if (!there.some((record) => record.key === key))
    throw unknownGuard(name, await registeredGuards(registry))
  await bus.append([{ topic, partition: 0, key, value: null }])
}

/** `mixed`: it enforces for some of its tools. */
export function modeOf(guard: { tools: GuardedTools[] } | undefined): GuardMode | undefined {
  const [first, ...others] = new Set(guard?.tools.map(({ mode }) => mode))
  return others.length === 0 ? first : undefined
}

function inForceOf(
  { name, version, tools, deadlineMs, onTimeout }: RegisteredGuard,
  modeFor: (pattern: string) => GuardMode,
): GuardInForce {
  return {
    name,
    version,
    tools: [...new Set(tools)].map((pattern) => ({ pattern, mode: modeFor(pattern) })),
    deadlineMs,
    onTimeout,
    rules: null,
  }
}

async function registered(registry: Registry, name: string): Promise<GuardRegistration> {
  const guards = await registeredGuards(registry)
  const known = guards.find((guard) => guard.name === name)
  if (known === undefined) throw unknownGuard(name, guards)
  return known
}

function unknownGuard(name: string, guards: GuardRegistration[]): WeirError {
  const those =
    guards.length === 0
      ? 'none is'
      : `registered are ${guards.map((guard) => guard.name).join(', ')}`
  return new WeirError(
    'guard.unknown',
    `no guard ${JSON.stringify(name.slice(0, 80))} is registered; ${those}`,
  )
}

/** As it is: whoever calls has checked it. */
export async function writeRegistration(
  { bus, topicPrefix }: Registry,
  guard: GuardInForce,
): Promise<void> {
  const message: GuardRegistration = {
    type: 'guard-registration',
    ...guard,
    registeredAt: bus.clock.now(),
  }
  await bus.append([toRecord({ topic: `${topicPrefix}policies`, partition: 0, message })])
}

function differenceOf(known: GuardRegistration, wanted: GuardInForce): string | undefined {
  if (known.version !== wanted.version)
    return `it is version ${known.version}, this is ${wanted.version}`
  const patterns = ({ tools }: { tools: GuardedTools[] }) =>
    tools.map(({ pattern }) => pattern).join(', ')
  if (patterns(known) !== patterns(wanted))
    return `it judges ${patterns(known)}, this judges ${patterns(wanted)}`
  if (known.deadlineMs !== wanted.deadlineMs || known.onTimeout !== wanted.onTimeout)
    return 'it has another deadline or on-timeout'
  return undefined
}

function isSame(known: GuardRegistration, wanted: GuardInForce): boolean {
  return (
    differenceOf(known, wanted) === undefined &&
    known.tools.every(({ mode }, place) => mode === wanted.tools[place]?.mode)
  )
}
