// Faults of guards while the fleet runs: a guard is added, switched, replaced, removed, killed or
// stopped. Changes of one guard run one after the other. Each fault counts only if it hit: some
// round must have waited for a guard that is killed, stopped or removed.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Fleet, Member } from './fleet.ts'
import type { Groups } from './groups.ts'
import { type GuardName, guardKinds, type Operator, writeGuard } from './guard-world.ts'
import type { GuardFault } from './plan.ts'
import type { WaitsWatch } from './waits-watch.ts'

export type GuardWorld = {
  fleet: Fleet
  groups: Groups
  signal: AbortSignal
  folder: string
  operator: Operator
  waits: WaitsWatch
  /** By guard: the end of its last change. */
  changing: Map<GuardName, Promise<unknown>>
  /** By guard: the newest version that was started. */
  versions: Map<GuardName, number>
  answered: () => number
  /** The roots of the trees of guests in which a child runs now. */
  openTrees: () => string[]
  /** The end of the time for faults. */
  overAt: number
  /** Waits until the broker is back and turns finish again. */
  broken: { until: Promise<unknown> }
}

type Seen = { hit: boolean; detail: string }

/** A limit: a fault that waits for another one must not prolong the run. */
export const leftOut: Seen = { hit: false, detail: 'left out, because the time of faults was over' }

const joinMs = 90_000
const expulsionMs = 120_000
/**
 * A round with a call for a guard comes every few seconds, unless another fault stops the fleet.
 */
const waitedForMs = 75_000
/** A mode needs finished turns to show an effect, and no turn finishes while the broker is away. */
const turnsBetween = 3
const turnsMs = 60_000
const leaveMs = 25_000
const lookMs = 200

export function inflictOnGuard(fault: GuardFault, world: GuardWorld): Promise<Seen> {
  const mine = (world.changing.get(fault.guard) ?? Promise.resolve())
    .then(() => world.broken.until) // no new rounds wait while the broker is away
    .then(() => (Date.now() < world.overAt ? act(fault, world) : leftOut))
  world.changing.set(
    fault.guard,
    mine.catch(() => {}),
  )
  return mine
}

async function act(fault: GuardFault, world: GuardWorld): Promise<Seen> {
  switch (fault.kind) {
    case 'guard-add':
      return add(fault.guard, world)
    case 'guard-mode':
      return switchAndBack(fault, world)
    case 'guard-version':
      return rollIn(fault.guard, fault.besideMs, world)
    case 'guard-remove':
      return remove(fault.guard, world)
    case 'guard-kill':
      return kill(fault.guard, fault, world)
    case 'guard-zombie':
      return zombie(fault.guard, fault, world)
  }
}

/** Processes of a further version of the guard. */
export function startVersion(
  guard: GuardName,
  { fleet, folder, versions }: Pick<GuardWorld, 'fleet' | 'folder' | 'versions'>,
): Member[] {
  const version = (versions.get(guard) ?? 0) + 1
  versions.set(guard, version)
  const optionsFile = writeGuard(folder, guard, version)
  return Array.from({ length: guardKinds[guard].instances }, (_, i) =>
    fleet.add(`guard-${guard}-v${version}-${i + 1}`, { kind: 'guard', guard, optionsFile }),
  )
}

export function membersOf(guard: GuardName, { members }: Pick<Fleet, 'members'>): Member[] {
  return [...members].filter(({ job }) => job.kind === 'guard' && job.guard === guard)
}

async function add(guard: GuardName, world: GuardWorld): Promise<Seen> {
  const members = startVersion(guard, world)
  const hit = await haveJoined(members, world)
  return {
    hit,
    detail: `${guard} v${world.versions.get(guard)} ${hit ? 'was added' : 'did not join its group'}`,
  }
}

async function switchAndBack(
  { guard, to, tools, forMs }: Extract<GuardFault, { kind: 'guard-mode' }>,
  world: GuardWorld,
): Promise<Seen> {
  const { operator, signal, answered } = world
  const only = tools.flatMap((pattern) => ['--tools', pattern])
  const isSwitched = await operator.command(['guard', 'mode', guard, to, ...only], signal)
  const before = answered()
  await sleep(forMs)
  for (
    const deadline = Date.now() + turnsMs;
    answered() < before + turnsBetween && Date.now() < deadline && !signal.aborted;
  )
    await sleep(lookMs)
  const turns = answered() - before
  const isBack = await operator.command(
    ['guard', 'mode', guard, to === 'shadow' ? 'enforce' : 'shadow', ...only],
    signal,
  )
  const description = `${guard} to ${to}${tools.length > 0 ? ` for ${tools.join(', ')}` : ''} and back`
  return {
    hit: isSwitched && isBack && turns >= turnsBetween,
    detail: `${description}, ${turns} turns in between`,
  }
}

/**
 * Starts a new version next to the old one. The old processes leave when the new ones have joined.
 */
async function rollIn(guard: GuardName, besideMs: number, world: GuardWorld): Promise<Seen> {
  const old = membersOf(guard, world.fleet)
  const isIn = await haveJoined(startVersion(guard, world), world)
  await sleep(besideMs)
  const codes = await Promise.all(old.map((member) => world.fleet.leave(member, leaveMs)))
  const hit = isIn && codes.length > 0 && codes.every((code) => code === 0)
  return {
    hit,
    detail: `${guard} v${world.versions.get(guard)} beside the former, whose processes ended with ${codes.join(', ')}`,
  }
}

/**
 * Stops all its processes, lets rounds wait, and removes it. The deadline decides the waiting
 * rounds.
 */
async function remove(guard: GuardName, world: GuardWorld): Promise<Seen> {
  const { fleet, operator, signal, waits } = world
  const isEnforcing = await operator.command(['guard', 'mode', guard, 'enforce'], signal)
  const members = membersOf(guard, fleet)
  const paused = members.filter((member) => fleet.pause(member))
  const waited = await isWaitedFor(guard, world)
  const isRemoved = await operator.command(['guard', 'remove', guard], signal)
  const stillWaiting = waits.waiting(guard)
  await sleep(guardKinds[guard].deadlineMs)
  for (const member of paused) fleet.resume(member)
  const codes = await Promise.all(members.map((member) => fleet.leave(member, leaveMs)))
  const hit = isEnforcing && isRemoved && stillWaiting > 0
  return {
    hit,
    detail: `${guard}, while ${waited} and then ${stillWaiting} rounds waited; its processes ended with ${codes.join(', ')}`,
  }
}

async function kill(
  guard: GuardName,
  { pick, downMs }: { pick: number; downMs: number },
  world: GuardWorld,
): Promise<Seen> {
  const member = victim(guard, pick, world)
  if (member === undefined || !world.fleet.pause(member)) return { hit: false, detail: 'nobody' }
  const waited = await isWaitedFor(guard, world)
  const wasAlive = await world.fleet.kill(member)
  await sleep(downMs)
  world.fleet.start(member)
  return { hit: wasAlive && waited > 0, detail: `${member.name}, while ${waited} rounds waited` }
}

async function zombie(
  guard: GuardName,
  { pick, lingerMs }: { pick: number; lingerMs: number },
  world: GuardWorld,
): Promise<Seen> {
  const { fleet, groups, signal, waits } = world
  const member = victim(guard, pick, world)
  if (member === undefined || !fleet.pause(member)) return { hit: false, detail: 'nobody' }
  let waited = 0
  let isExpelled = false
  for (
    const deadline = Date.now() + expulsionMs;
    !isExpelled && Date.now() < deadline && !signal.aborted;
    await sleep(lookMs)
  ) {
    const now = await groups.owned()
    isExpelled = now !== undefined && !now.has(member.name)
    waited = Math.max(waited, waits.waiting(guard))
  }
  await sleep(lingerMs)
  const isAwake = fleet.resume(member)
  const detail = `${member.name}, while ${waited} rounds waited, ${isExpelled ? 'expelled' : 'never expelled'}`
  return { hit: isExpelled && isAwake && waited > 0, detail }
}

function victim(guard: GuardName, pick: number, { fleet, groups }: GuardWorld): Member | undefined {
  const up = membersOf(guard, fleet).filter(
    ({ state, name }) => state === 'up' && (groups.lastOwned().get(name) ?? 0) > 0,
  )
  return up[Math.floor(pick * up.length)]
}

/** The number of rounds that wait as soon as one does, or at the time limit. */
async function isWaitedFor(guard: GuardName, { waits, signal }: GuardWorld): Promise<number> {
  const deadline = Date.now() + waitedForMs
  while (waits.waiting(guard) === 0 && Date.now() < deadline && !signal.aborted) await sleep(lookMs)
  return waits.waiting(guard)
}

async function haveJoined(
  members: Member[],
  { groups, signal }: Pick<GuardWorld, 'groups' | 'signal'>,
): Promise<boolean> {
  const deadline = Date.now() + joinMs
  while (Date.now() < deadline && !signal.aborted) {
    const owned = (await groups.owned()) ?? new Map<string, number>()
    if (members.every(({ name }) => (owned.get(name) ?? 0) > 0)) return true
    await sleep(lookMs)
  }
  return false
}
