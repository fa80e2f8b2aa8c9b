// The caps of a tree, by the tools' own records of their starts. A child starts only with a place of its
// tree. At no time more children run than the cap allows, and no more start in all. A place ends with the
// report of its call, or when its time has passed.

import { addressOf, type Checker, callKey, type Finding, recordsOf } from '../../evidence.ts'
import { amountOf, callerOf, lineOf, type Place, placeAt, reservationsOfChildren } from './trees.ts'

type Child = { call: string; from: number; until: number; place: Place }

export const treeCaps: Checker<'childTools'> = {
  name: 'tree-caps',
  rule: 'No more children run at once, start in all, or stand deeper than the caps of their tree allow.',
  needs: ['childTools'],
  check(evidence) {
    const { starts, childTools } = evidence
    const reservations = reservationsOfChildren(evidence)
    const reported = new Map<string, number>()
    for (const { message, time } of recordsOf(evidence, 'outcome')) {
      const key = callKey(message, message.ordinal)
      if (message.result !== null && !reported.has(key)) reported.set(key, time)
    }
    const capped = cappedRoots(evidence)
    const findings: Finding[] = []
    const children = new Map<string, Child>()
    for (const { call, tool, at } of starts.toSorted((a, b) => a.at - b.at)) {
      if (!childTools.includes(tool) || children.has(call)) continue
      const [conversation] = JSON.parse(call) as [string]
      const line = lineOf(conversation)
      const depth = capped.get(line.at(-1) ?? '')
      if (depth !== undefined && line.length > depth)
        findings.push({
          problem: `${call} started ${line.length} deep, at most ${depth} are allowed`,
        })
      const place = placeAt(reservations.get(call) ?? [], at)
      if (place === undefined) {
        if (depth !== undefined) findings.push({ problem: `${call} started without a place` })
        continue
      }
      const until = Math.min(reported.get(call) ?? Number.POSITIVE_INFINITY, place.until)
      children.set(call, { call, from: at, until, place })
    }
    const trees = Map.groupBy(children.values(), ({ place }) => place.reserved.message.tree)
    for (const own of trees.values()) findings.push(...tooMany(own))
    return findings
  },
}

/** `children`: of one tree, by their starts. An operator may change a cap while some run: the highest counts. */
function tooMany(children: readonly Child[]): Finding[] {
  return children.flatMap((child, at) => {
    const { from, place } = child
    const { reserved } = place
    const before = children.slice(0, at + 1)
    const running = before.filter((one) => one === child || one.until > from)
    const capOf = (of: readonly Child[], unit: 'running' | 'children') =>
      Math.max(
        ...of.map(
          ({ place }) => amountOf(place.reserved.message, unit) ?? Number.POSITIVE_INFINITY,
        ),
      )
    const problem = (count: number, most: number, how: string) =>
      count <= most
        ? []
        : [
            {
              problem: `${count} children ${how} in ${reserved.message.tree}, at most ${most} are allowed`,
              at: addressOf(reserved),
            },
          ]
    return [
      ...problem(running.length, capOf(running, 'running'), 'run at once'),
      ...problem(before.length, capOf(before, 'children'), 'started'),
    ]
  })
}

/** The depth that the newest settings of a root allow. Only roots with caps on children. */
function cappedRoots(evidence: Parameters<typeof treeCaps.check>[0]): Map<string, number> {
  const roots = new Map<string, number>()
  for (const { message } of recordsOf(evidence, 'user-message')) {
    const { conversation, settings } = message
    const { tree } = settings.policy
    if (callerOf(conversation) !== undefined || tree === null) continue
    if (tree.atOnce === null && tree.children === null) continue
    const depth = tree.depth ?? Number.POSITIVE_INFINITY
    roots.set(conversation, Math.max(depth, roots.get(conversation) ?? 0))
  }
  return roots
}
