// The registry of guards: records in `policies` that put a guard in force, switch its mode and
// remove it. Also creates the topic of a guard.
// One name is one guard. Another version under the name needs `replace`, and the
// operator's mode stays.
// The topic comes first: a guard that is in force must be able to answer.
// A registration keeps former registrations while a round may name them: on the way, or waiting for
// a person.

import { messageOf } from '../../codec/message-of.ts'
import type { Bus } from '../../contract/bus.ts'
import { approvalGuard } from '../../contract/guard/approval-guard.ts'
import type { Guard } from '../../contract/guard/guard.ts'
import { isGuardName, registrationFault } from '../../contract/guard/guard-registration.ts'
import { limits } from '../../contract/limits.ts'
import type {
  GuardedTools,
  GuardInForce,
  GuardMode,
  GuardRegistration,
} from '../../contract/messages.ts'
import { guardTopicSpec } from '../../contract/retention.ts'
import { guardKeyPrefix, guardTopicName, topics } from '../../contract/topology.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import type { AuditedTable } from '../settings/audited-change.ts'
import {
  type OperatorSetting,
  placeSetting,
  readableSettings,
  storedSettings,
} from '../settings/operator-setting.ts'

/** Earlier registrations of a guard that its newest one keeps. Rounds of older ones are denied. */
export const guardsReplacedMax = 8

export type Registry = AuditedTable & {
  bus: Pick<Bus, 'append' | 'ensureTopics' | 'list' | 'clock'>
}

/** Rounds that wait for a removed guard wait on. Its topic and its verdicts stay. */
export const guardSetting: OperatorSetting<'guard-registration'> = {
  kind: 'guard',
  scope: guardKeyPrefix,
  schema: 'guard-registration',
  unknown(name, names) {
    const there = names.length === 0 ? 'none' : names.join(', ')
    return new WeirError(
      'guard.unknown',
      `unknown guard ${JSON.stringify(name.slice(0, 80))}; registered guards: ${there}`,
    )
  },
}

/** All registrations, by name. Throws `policies.unreadable` for a record that cannot be read. */
export function registeredGuards(registry: Registry): Promise<GuardRegistration[]> {
  return readableSettings(guardSetting, registry)
}

/**
 * The names of guards with their own topic and group. Includes guards whose registration cannot be
 * read.
 */
export async function registeredGuardNames(
  registry: Parameters<typeof storedSettings>[1],
): Promise<string[]> {
  const guards = await storedSettings(guardSetting, registry)
  return guards.map(({ id }) => id).filter((name) => isGuardName(name) && !isStage(name))
}

/** Whether the guard is a stage of Weir. Its topic is in the topology, its group is the stage's. */
export function isStage(guard: string): boolean {
  return guardTopicName(guard) in topics
}

/** The registered part of a guard. */
export type RegisteredGuard = Pick<Guard, 'name' | 'version' | 'tools' | 'deadlineMs' | 'onTimeout'>

export type RegisterOptions = Registry & {
  partitions: number
  /** Of its topic. Undefined: until somebody deletes the records. */
  retentionMs: Milliseconds | undefined
  guard: RegisteredGuard
  /** For all its tools; default: the registered mode, or `shadow` for a new guard. */
  mode?: GuardMode | undefined
  /** For single tool patterns; overrides `mode`. */
  modes?: ReadonlyMap<string, GuardMode | undefined>
  /** Allows another version, or other tools, to replace the registration. */
  replace: boolean
  /** The author's name, for people. Default: none, because a program registers it at its start. */
  by?: string
}

/**
 * Puts the guard in force, from the next model response on. An equal registration is another
 * instance, so nothing is written. Throws `guard.invalid` (the guard cannot be used) and
 * `guard.taken` (another guard has its name).
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
  by = '',
}: RegisterOptions): Promise<GuardInForce> {
  if (guard.name === approvalGuard)
    throw new WeirError(
      'guard.taken',
      `${approvalGuard} is Weir's own guard; give this one another name`,
    )
  const others = await registeredGuards({ bus, topicPrefix })
  const known = others.find(({ name }) => name === guard.name)
  const requested = inForceOf(
    guard,
    (pattern) =>
      modes?.get(pattern) ??
      mode ??
      known?.tools.find((tools) => tools.pattern === pattern)?.mode ??
      modeOf(known) ??
      'shadow',
  )
  const fault = registrationFault(requested)
  if (fault !== undefined)
    throw new WeirError('guard.invalid', `the guard cannot be used: ${fault}`)
  const bad = guard.tools.find((pattern) => /[\s=]/.test(pattern))
  if (bad !== undefined)
    throw new WeirError(
      'guard.invalid',
      `the guard cannot be used: its pattern ${JSON.stringify(bad)} matches no tool, because names have no blanks and no =`,
    )
  if (known === undefined && others.length >= limits.guardsMax)
    throw new WeirError(
      'guard.invalid',
      `${others.length} guards are registered, which is the limit. Remove one (weir guard remove)`,
    )
  if (known !== undefined && !replace) {
    const difference = differenceOf(known, requested)
    if (difference !== undefined)
      throw new WeirError(
        'guard.taken',
        `there is a guard ${guard.name} already, and ${difference}. Give this one another name, or replace the other with --replace`,
      )
  }
  await bus.ensureTopics([guardTopicSpec(topicPrefix, guard.name, partitions, retentionMs)])
  if (known === undefined || !isSame(known, requested))
    await writeRegistration({ bus, topicPrefix }, requested, by)
  return requested
}

/**
 * Switches the mode for all tools of the guard, or for those of its `patterns` only. Throws
 * `guard.unknown`. `by`: the author's name.
 */
export async function switchGuard(
  registry: Registry,
  name: string,
  { mode, by, patterns = [] }: { mode: GuardMode; by: string; patterns?: string[] },
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
  const switched = { name, version, tools, deadlineMs, onTimeout, rules }
  await writeRegistration(registry, switched, by)
  return switched
}

/** Undefined: the guard enforces for some of its tools only. */
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
  if (known === undefined)
    throw guardSetting.unknown(
      name,
      guards.map((guard) => guard.name),
    )
  return known
}

/** Writes without a check: the caller has checked the registration. */
export async function writeRegistration(
  registry: Registry,
  guard: GuardInForce,
  by: string,
): Promise<void> {
  const registeredAt = registry.bus.clock.now()
  const earlier = await earlierOf(registry, guard.name)
  const message = {
    type: 'guard-registration',
    ...guard,
    registeredAt,
    setBy: by,
    ...earlier,
  } as const
  await placeSetting(guardSetting, registry, message)
}

async function earlierOf(
  { bus, topicPrefix }: Registry,
  guard: string,
): Promise<Pick<GuardRegistration, 'firstAt' | 'replaced'>> {
  const key = guardKeyPrefix + guard
  const table = { topic: `${topicPrefix}policies`, partition: 0 }
  const records = await bus.list({ ...table, prefix: key, upToNow: true })
  const record = records.find((one) => one.key === key)
  const message = record?.value == null ? undefined : messageOf(record.value)
  return record === undefined || message?.type !== 'guard-registration'
    ? firstOfName
    : replacing({ message, time: record.time }, bus.clock.now())
}

/** The fields of the first registration under a name. */
export const firstOfName = { firstAt: null, replaced: [] } satisfies Partial<GuardRegistration>

/**
 * The fields of a registration that replaces this one. Twice the time of the
 * stamp, because the clocks of writer and log may differ.
 */
export function replacing(
  { message, time }: { message: GuardRegistration; time: Milliseconds },
  now: Milliseconds,
): Pick<GuardRegistration, 'firstAt' | 'replaced'> {
  const { name, version, tools, deadlineMs, onTimeout, rules } = message
  const last = {
    since: time,
    guard: { name, version, tools, deadlineMs, onTimeout, rules },
  }
  const all = [...message.replaced, last]
  const begin = now - limits.turnWallMsMax - 2 * limits.guardStampedMs
  const replaced = all.filter((_, place) => (all[place + 1]?.since ?? Infinity) > begin)
  return {
    firstAt: message.firstAt ?? time,
    replaced: replaced.slice(-guardsReplacedMax),
  }
}

function differenceOf(known: GuardRegistration, requested: GuardInForce): string | undefined {
  if (known.version !== requested.version)
    return `it is version ${known.version}, this is ${requested.version}`
  const patterns = ({ tools }: { tools: GuardedTools[] }) =>
    tools.map(({ pattern }) => pattern).join(', ')
  if (patterns(known) !== patterns(requested))
    return `it judges ${patterns(known)}, this judges ${patterns(requested)}`
  if (known.deadlineMs !== requested.deadlineMs || known.onTimeout !== requested.onTimeout)
    return 'it has another deadline or on-timeout'
  return undefined
}

function isSame(known: GuardRegistration, requested: GuardInForce): boolean {
  return (
    differenceOf(known, requested) === undefined &&
    known.tools.every(({ mode }, place) => mode === requested.tools[place]?.mode)
  )
}
