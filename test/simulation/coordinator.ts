// Consumer groups: the owner of each partition, and the notice to a former owner, in time, late or
// never. It is harsher than Kafka: a former owner reads and writes until it gets the notice. As in
// Kafka, a partition that returns to a process before this notice is the same assignment.

import type { Milliseconds } from '../../shared/lib/clock.ts'
import type { Machine } from './machine.ts'
import type { PartitionLoop } from './partition-loop.ts'
import type { Random } from './random.ts'

/** One process in one group. */
export type Member = {
  readonly machine: Machine
  /** Shuts down: it keeps its partitions until it leaves and gets no more. */
  leaving: boolean
  /** Its readers by partition. A loop stays here until it has ended. */
  readonly loops: Map<number, PartitionLoop>
  start(partition: number): PartitionLoop
}

export type Coordinator = {
  join(group: string, partitions: number, member: Member): void
  leave(group: string, member: Member): void
  owns(group: string, loop: PartitionLoop): boolean
  /** The groups consider the process dead. A live process rejoins when it gets the notice. */
  expel(machine: Machine): void
  /**
   * Moves a random partition of a random group. Its owner closes it first. With `late` its owner
   * gets the notice when the next one acts already.
   */
  shuffle(late: boolean): void
}

/** `loop` undefined: it gets the partition once it has closed its earlier assignment. */
type Owner = { member: Member; loop: PartitionLoop | undefined }

type Group = { members: Member[]; owners: (Owner | undefined)[] }

export function createCoordinator({ random }: { random: Random }): Coordinator {
  const groups = new Map<string, Group>()

  return {
    join(name, partitions, member) {
      const group = groups.get(name) ?? {
        members: [],
        owners: new Array<undefined>(partitions).fill(undefined),
      }
      groups.set(name, group)
      enter(group, member)
    },
    leave(name, member) {
      const group = groups.get(name)
      if (group !== undefined) remove(group, member)
    },
    owns: (name, loop) => groups.get(name)?.owners[loop.partition]?.loop === loop,
    expel(machine) {
      for (const group of groups.values()) {
        const member = group.members.find((other) => other.machine === machine)
        if (member === undefined) continue
        remove(group, member)
        machine.after(random.between(100, 5000), () => {
          if (!member.leaving && !group.members.includes(member)) enter(group, member)
        })
      }
    },
    shuffle(late) {
      const group = random.pick([...groups.values()])
      const partition = random.below(group?.owners.length ?? 0)
      const owner = group?.owners[partition]
      const to = owner && candidate(group, owner.member)
      if (group === undefined || owner?.loop === undefined || to === undefined) return
      if (!late) return moveInOrder(group, owner, owner.loop, to)
      give(group, partition, to)
      tell(group, owner.loop, random.between(0, 30_000))
    },
  }

  /** A new member gets the free partitions and its share of the rest. */
  function enter(group: Group, member: Member): void {
    group.members.push(member)
    for (const [partition, owner] of group.owners.entries()) {
      if (owner === undefined) give(group, partition, member)
      else if (
        owner.loop !== undefined &&
        owner.member !== member &&
        random.chance(1 / group.members.length)
      )
        moveInOrder(group, owner, owner.loop, member)
    }
  }

  function remove(group: Group, member: Member): void {
    group.members = group.members.filter((other) => other !== member)
    for (const [partition, owner] of group.owners.entries()) {
      if (owner?.member !== member) continue
      if (owner.loop !== undefined) tell(group, owner.loop, random.between(0, 10_000))
      giveToAny(group, partition)
    }
  }

  function giveToAny(group: Group, partition: number): void {
    const member = candidate(group, undefined)
    group.owners[partition] = undefined
    if (member !== undefined) give(group, partition, member)
  }

  function candidate(group: Group, but: Member | undefined): Member | undefined {
    const members = group.members.filter((member) => !member.leaving && member !== but)
    return members.length === 0 ? undefined : random.pick(members)
  }

  function give(group: Group, partition: number, member: Member): void {
    const former = member.loops.get(partition)
    if (former?.ending) {
      const owner: Owner = { member, loop: undefined }
      group.owners[partition] = owner
      onEnd(former, () => {
        if (group.owners[partition] === owner) giveToAny(group, partition)
      })
      return
    }
    const loop = former ?? member.start(partition)
    group.owners[partition] = { member, loop }
    if (former !== undefined) return
    member.loops.set(partition, loop)
    onEnd(loop, () => member.loops.delete(partition))
  }

  function moveInOrder(group: Group, owner: Owner, loop: PartitionLoop, to: Member): void {
    owner.member.machine.after(1, () => loop.end('lost'))
    onEnd(loop, () => {
      if (group.owners[loop.partition]?.loop !== loop) return
      if (group.members.includes(to) && !to.leaving) give(group, loop.partition, to)
      else giveToAny(group, loop.partition)
    })
  }

  /** The member gets the notice when it is awake, after a delay. */
  function tell(group: Group, loop: PartitionLoop, delayMs: Milliseconds): void {
    loop.machine.after(0, () =>
      loop.machine.after(delayMs, () => {
        if (group.owners[loop.partition]?.loop !== loop) loop.end('lost')
      }),
    )
  }

  function onEnd(loop: PartitionLoop, call: () => void): void {
    loop.ended.then(call, call)
  }
}
