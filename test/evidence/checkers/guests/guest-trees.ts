// The caps of a guest's tree, as the guest counts its sub-agents. A child begins with the verdict on its call,
// and the next request of its caller shows its end. At no time more run than the cap allows, and no more
// begin in all.

import type { Checker, Finding, GuestChild } from '../../evidence.ts'

export const guestTrees: Checker<'guestTrees'> = {
  name: 'guest-trees',
  rule: 'No more sub-agents of a guest run at once, or begin in all, than the caps of its tree allow.',
  needs: ['guestTrees'],
  check({ guestTrees: { children, caps } }) {
    const atOnceMax = caps.atOnce ?? Number.POSITIVE_INFINITY
    const childrenMax = caps.children ?? Number.POSITIVE_INFINITY
    const trees = Map.groupBy(children, ({ root }) => root)
    return [...trees].flatMap(([root, own]): Finding[] => {
      const most = mostAtOnce(own)
      return [
        ...(most > atOnceMax
          ? [{ problem: `${most} sub-agents run at once in ${root}, at most ${atOnceMax} may` }]
          : []),
        ...(own.length > childrenMax
          ? [{ problem: `${own.length} sub-agents began in ${root}, at most ${childrenMax} may` }]
          : []),
      ]
    })
  },
}

export function mostAtOnce(children: readonly GuestChild[]): number {
  const running = children.map(
    ({ from }) => children.filter((one) => one.from <= from && one.until > from).length,
  )
  return Math.max(0, ...running)
}
