// A rolling upgrade of the fleet as docs/operate/upgrade.md states it, while other faults go on. The format is
// pinned, the missing topics are created, and each process is replaced. Then the new format comes in force.
// The clients of a run have the new version from the beginning.

import { setTimeout as sleep } from 'node:timers/promises'
import { ownFormat } from '../../shared/codec/codec.ts'
import { weirCommand } from '../support/programs.ts'
import type { Member } from './fleet.ts'
import type { GuardWorld } from './guard-faults.ts'

export type UpgradeWorld = Pick<GuardWorld, 'fleet' | 'groups' | 'operator' | 'signal'> & {
  print(line: string): void
}

const leaveMs = 25_000
/** The longest wait for a process to join. A fault can stop it again. */
const joinMs = 60_000
const lookMs = 300

const order: Record<Member['job']['kind'], number> = { front: 0, stages: 1, guard: 2 }

/** It hits if the new format is in force, without a pin, and all processes have the new version. */
export async function upgradeFleet(world: UpgradeWorld): Promise<{ hit: boolean; detail: string }> {
  const { fleet, operator, signal, print } = world
  operator.use(weirCommand)
  fleet.use(weirCommand)
  const isPrepared =
    (await operator.command(['fleet', '--format', `${ownFormat - 1}`], signal)) &&
    (await operator.command(['topics', 'create'], signal))
  print('the topics are ready for the new version')

  let count = 0
  for (let next = oldestOf(fleet.members); next !== undefined; next = oldestOf(fleet.members)) {
    if (signal.aborted) break
    await fleet.replace(next, weirCommand, leaveMs)
    await hasJoined(next, world)
    count += 1
    print(`${next.name} has the new version`)
  }

  const isRaised =
    (await operator.command(['fleet', '--format', `${ownFormat}`], signal)) &&
    (await operator.command(['fleet', '--format', 'newest'], signal))
  const isWhole = [...fleet.members].every(({ program }) => program === weirCommand)
  return {
    hit: isPrepared && isRaised && isWhole && count > 0,
    detail: `${count} processes were replaced, and format ${ownFormat} ${isRaised ? 'is' : 'is not'} in force`,
  }
}

function oldestOf(members: ReadonlySet<Member>): Member | undefined {
  return [...members]
    .filter(({ program }) => program !== weirCommand)
    .sort((a, b) => order[a.job.kind] - order[b.job.kind])[0]
}

/** A front joins no group. Its guests send their requests again. */
async function hasJoined({ name, job }: Member, { groups, signal }: UpgradeWorld): Promise<void> {
  if (job.kind === 'front') return
  const deadline = Date.now() + joinMs
  while (Date.now() < deadline && !signal.aborted) {
    await sleep(lookMs)
    if ((await groups.owned())?.has(name)) return
  }
}
