// Which member of a group gets which partitions, decided by the group's leader. Pure.
// ASSIGNMENT-1. Sticky: what a member holds stays with it as far as an even share allows, because a
//     partition that moves costs a fold and whatever its performer was action.
// ASSIGNMENT-2. Even: no member has two more than another.
// ASSIGNMENT-3. Of two that claim a partition, the one that had it in the later generation keeps
//     it: the other was away.
// ASSIGNMENT-4. It depends on what the members say alone, not on their order.

export type Claimant = { member: string; generation: number; owned: number[] }

/** Partitions 0 to `partitions` - 1, by member, each list in order. */
export function assignPartitions(claimants: Claimant[], partitions: number): Map<string, number[]> {
  const members = claimants.toSorted(
    (a, b) => b.generation - a.generation || compare(a.member, b.member),
  )
  const holders = new Map<number, string>()
  for (const { member, owned } of members)
    for (const partition of owned.toSorted((a, b) => a - b))
      if (partition >= 0 && partition < partitions && !holders.has(partition))
        holders.set(partition, member)

  const held = new Map<string, number[]>(members.map(({ member }) => [member, []]))
  for (const [partition, member] of holders) held.get(member)?.push(partition)

  // Who holds most keeps the larger shares, so that they cost no move.
  const byHeld = members
    .map(({ member }) => member)
    .toSorted((a, b) => (held.get(b)?.length ?? 0) - (held.get(a)?.length ?? 0) || compare(a, b))
  const least = Math.floor(partitions / byHeld.length)
  const larger = partitions % byHeld.length
  const shares = new Map(byHeld.map((member, n) => [member, least + (n < larger ? 1 : 0)]))

  const given = new Map<string, number[]>()
  for (const member of byHeld)
    given.set(member, (held.get(member) ?? []).slice(0, shares.get(member)))
  const taken = new Set([...given.values()].flat())
  const free = Array.from({ length: partitions }, (_, partition) => partition).filter(
    (partition) => !taken.has(partition),
  )
  for (const member of byHeld) {
    const list = given.get(member) as number[]
    list.push(...free.splice(0, (shares.get(member) ?? 0) - list.length))
    list.sort((a, b) => a - b)
  }
  return given
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
