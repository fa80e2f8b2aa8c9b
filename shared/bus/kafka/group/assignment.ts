// Decides which member of a group gets which partitions. The group's leader runs it. Pure.
// Sticky: a member keeps its partitions as far as an even share allows. A move costs
// a fold and the work in progress.
// Even: no member has two more than another.
// If two members claim a partition, the one of the later generation keeps it: the
// other was away.
// The result depends only on the claims, not on the order of the members.

export type Claimant = { member: string; generation: number; owned: number[] }

/** The partitions 0 to `partitions` - 1, by member, each list in order. */
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

  // Members with the most partitions keep the larger shares, so the larger shares move nothing.
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
  return Number(a > b) - Number(a < b)
}
