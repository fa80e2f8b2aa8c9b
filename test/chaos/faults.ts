// The faults of the fleet and the broker. Each fault counts only if it hit. A killed process must
// have been alive and owned partitions. A zombie must have been expelled by the broker during its
// pause. A broker must have been away and have answered again.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Disturbance } from '../evidence/evidence.ts'
import type { Broker } from '../support/kafka/broker-options.ts'
import type { Job, Member } from './fleet.ts'
import { type GuardWorld, inflictOnGuard, leftOut } from './guard-faults.ts'
import { onceGuard } from './guard-world.ts'
import { budgetAndAmple, stopAndRelease } from './operator-faults.ts'
import type { Fault } from './plan.ts'
import { type UpgradeWorld, upgradeFleet } from './upgrade.ts'

/** `signal` aborts when the run fails. `answered` counts turns so far. */
type World = GuardWorld &
  Pick<UpgradeWorld, 'print'> & {
    broker: Pick<Broker, 'kill' | 'restart' | 'pause' | 'resume'>
  }

/** `detail`: the target and the observed effect. */
export type Inflicted = { kind: Fault['kind']; hit: boolean; detail: string }

/**
 * A broker starts within seconds on an idle machine, and much later on one that is busy with a
 * fleet.
 */
const answerMs = 180_000
const expulsionMs = 120_000
const turnsBetween = 10
const turnsBetweenMs = 90_000
const lookMs = 300
const leaveMs = 25_000
const churnMs = 2_000
/** The longest wait for a guest to join. */
const joinMs = 60_000

export async function inflict(fault: Fault, world: World): Promise<Inflicted> {
  const { kind } = fault
  switch (kind) {
    case 'kill':
      return {
        kind,
        ...(await killAndStart(await victims(world, fault.pick, 1), fault.downMs, world)),
      }
    case 'kill-stage':
      return {
        kind,
        ...(await killAndStart(await allOfAStage(world, fault.pick), fault.downMs, world)),
      }
    case 'kill-front':
      return { kind, ...(await killFront(fault.pick, fault.downMs, world)) }
    case 'zombie':
      return { kind, ...(await zombie(fault.pick, fault.lingerMs, world)) }
    case 'churn':
      return { kind, ...(await churn(fault.pick, fault.forMs, world)) }
    case 'broker-restart':
      return { kind, ...(await brokerFault(world, () => world.broker.restart())) }
    case 'broker-kill':
      return { kind, ...(await brokerFault(world, () => killBroker(world, fault.downMs))) }
    case 'broker-pause':
      return { kind, ...(await brokerFault(world, () => pauseBroker(world, fault.forMs))) }
    case 'upgrade':
      return { kind, ...(await upgradeFleet(world)) }
    case 'stop':
      return { kind, ...(await stopAndRelease(fault, world)) }
    case 'budget':
      return { kind, ...(await budgetAndAmple(fault, world)) }
    default:
      return { kind, ...(await inflictOnGuard(fault, world)) }
  }
}

type Seen = { hit: boolean; detail: string }

/**
 * Stages that own partitions, by the broker's current answer or, during an outage, its last one. A
 * fault skips targets that another fault holds.
 */
async function victims(
  { fleet, groups }: World,
  pick: number,
  count: number,
): Promise<{ members: Member[]; owned: number }> {
  const owned = (await groups.owned()) ?? groups.lastOwned()
  const up = [...fleet.members].filter(
    ({ state, name, job }) => isVictim(job) && state === 'up' && (owned.get(name) ?? 0) > 0,
  )
  const from = Math.floor(pick * up.length)
  const members = [...up.slice(from), ...up.slice(0, from)].slice(0, count)
  return { members, owned: members.reduce((sum, { name }) => sum + (owned.get(name) ?? 0), 0) }
}

/** Other faults strike the other guards (guard-faults.ts). */
function isVictim(job: Job): boolean {
  return job.kind === 'stages' || (job.kind === 'guard' && job.guard === onceGuard.name)
}

async function allOfAStage(
  world: World,
  pick: number,
): Promise<{ members: Member[]; owned: number }> {
  const { fleet, groups } = world
  const owned = (await groups.owned()) ?? groups.lastOwned()
  const stage = stageOf(world, pick)
  const members = [...fleet.members].filter(
    (member) => member.state === 'up' && stagesOf(member).includes(stage),
  )
  return { members, owned: members.reduce((sum, { name }) => sum + (owned.get(name) ?? 0), 0) }
}

function stageOf({ fleet }: World, pick: number): string {
  const stages = [...new Set([...fleet.members].flatMap(stagesOf))]
  return stages[Math.floor(pick * stages.length)] as string
}

function stagesOf({ job }: Member): string[] {
  return job.kind === 'stages' ? job.stages : []
}

async function killAndStart(
  { members, owned }: { members: Member[]; owned: number },
  downMs: number,
  { fleet }: World,
): Promise<Seen> {
  const killed = await Promise.all(members.map((member) => fleet.kill(member)))
  const hit = owned > 0 && killed.length > 0 && killed.every(Boolean)
  await sleep(downMs)
  for (const member of members) fleet.start(member)
  return {
    hit,
    detail: `${members.map(({ name }) => name).join(', ') || 'nobody'}, with ${owned} partitions`,
  }
}

/** A front has no partitions. It is hit if it was alive, and guests go on all the time. */
async function killFront(pick: number, downMs: number, { fleet }: World): Promise<Seen> {
  const fronts = [...fleet.members].filter(
    ({ job, state }) => job.kind === 'front' && state === 'up',
  )
  const member = fronts[Math.floor(pick * fronts.length)]
  if (member === undefined) return { hit: false, detail: 'nobody' }
  const hit = await fleet.kill(member)
  await sleep(downMs)
  fleet.start(member)
  return { hit, detail: member.name }
}

/**
 * Pauses a process until the broker has reassigned its partitions and a little longer, then resumes
 * it.
 */
async function zombie(pick: number, lingerMs: number, world: World): Promise<Seen> {
  const { fleet, groups, signal } = world
  const { members, owned } = await victims(world, pick, 1)
  const [member] = members
  if (member === undefined || !fleet.pause(member)) return { hit: false, detail: 'nobody' }
  let isExpelled = false
  const deadline = Date.now() + expulsionMs
  while (!isExpelled && Date.now() < deadline && !signal.aborted) {
    await sleep(lookMs)
    const now = await groups.owned()
    isExpelled = now !== undefined && !now.has(member.name)
  }
  await sleep(lingerMs)
  const isAwake = fleet.resume(member)
  return {
    hit: isExpelled && isAwake,
    detail: `${member.name}, with ${owned} partitions, ${isExpelled ? 'expelled' : 'never expelled'}`,
  }
}

/**
 * Every two seconds a process of a stage joins and the one before it leaves. On a busy machine the
 * next one waits until the broker has seen the join.
 */
async function churn(pick: number, forMs: number, world: World): Promise<Seen> {
  const { fleet, groups, signal, broken, overAt } = world
  await broken.until // a process that cannot join moves no partitions
  if (Date.now() >= overAt) return leftOut
  const stage = stageOf(world, pick)
  const until = Date.now() + forMs
  const leaving: Promise<unknown>[] = []
  let joined = 0
  while (Date.now() < until && !signal.aborted) {
    const began = Date.now()
    const guest = fleet.add(`${stage}-guest-${began}`, { kind: 'stages', stages: [stage] })
    let isSeen = false
    while (Date.now() < began + (isSeen ? churnMs : joinMs) && !signal.aborted) {
      await sleep(lookMs)
      isSeen ||= (await groups.owned())?.has(guest.name) ?? false
    }
    if (isSeen) joined += 1
    leaving.push(fleet.leave(guest, leaveMs))
  }
  await Promise.all(leaving)
  return {
    hit: joined > 0,
    detail: `${stage}: ${leaving.length} came and went, ${joined} were seen in the group`,
  }
}

/**
 * Outages come one after the other, with turns in between. Pausing a broker that still starts would
 * test nothing.
 */
function brokerFault(world: World, act: () => Promise<void>): Promise<Seen> {
  const mine = world.broken.until.then(() =>
    Date.now() < world.overAt ? breakBroker(world, act) : leftOut,
  )
  world.broken.until = mine.then(() => turnsGoOn(world)).catch(() => {})
  return mine
}

/** Polls the broker during `act`. It must be silent at least once and answer in the end. */
async function breakBroker(
  { fleet, groups, signal }: World,
  act: () => Promise<void>,
): Promise<Seen> {
  const disturbance: Disturbance = {
    kind: 'broker',
    process: 'broker',
    from: Date.now(),
    to: Number.POSITIVE_INFINITY,
  }
  fleet.disturbances.push(disturbance)
  let isActing = true
  let silences = 0
  const looking = (async () => {
    while (isActing) {
      if ((await groups.owned()) === undefined) silences += 1
      await sleep(lookMs)
    }
  })()
  await act()
  isActing = false
  await looking
  const deadline = Date.now() + answerMs
  let answers = false
  while (!answers && Date.now() < deadline && !signal.aborted) {
    answers = (await groups.owned()) !== undefined
    if (!answers) await sleep(lookMs)
  }
  disturbance.to = Date.now()
  const seconds = ((disturbance.to - disturbance.from) / 1_000).toFixed(1)
  return {
    hit: silences > 0 && answers,
    detail: `${silences === 0 ? 'it never went silent' : 'it went silent'}, ${answers ? `and answered after ${seconds} s` : 'and never answered again'}`,
  }
}

async function turnsGoOn({ answered, signal }: World): Promise<void> {
  const until = answered() + turnsBetween
  const deadline = Date.now() + turnsBetweenMs
  while (answered() < until && Date.now() < deadline && !signal.aborted) await sleep(lookMs)
}

async function killBroker({ broker }: World, downMs: number): Promise<void> {
  await broker.kill()
  await sleep(downMs)
  await broker.restart()
}

async function pauseBroker({ broker }: World, forMs: number): Promise<void> {
  await broker.pause()
  await sleep(forMs)
  await broker.resume()
}
