// The patterns of guards and rules that match no tool of the agents of this process. A misspelt one
// would let every call run. A pattern may be for agents of another process, so it is no error.

import { matchesPattern } from '../../shared/runtime/guards/tool-pattern.ts'
import { alternatives } from '../../shared/settings/mistake.ts'
import { nearestName } from '../../shared/settings/nearest-name.ts'
import type { Agents } from '../agents/agents-in-files.ts'
import type { WeirOptions } from '../weir-options.ts'

/** A warning for each guard and each rule without a tool here. */
export function unmatchedPatterns(
  { guards, approvals }: Pick<WeirOptions, 'guards' | 'approvals'>,
  agents: Agents,
): string[] {
  const names = [...agents.values()].flatMap(({ tools }) =>
    tools.map(({ declaration }) => declaration.name),
  )
  const rules: unknown = approvals?.rules // unchecked yet
  const owners = [
    ...(guards?.guards ?? []).map(({ name, tools }) => ({ owner: `the guard ${name}`, tools })),
    ...(Array.isArray(rules) ? rules : []).map((rule) => ({
      owner: `the approval rule ${rule?.name}`,
      tools: rule?.tools,
    })),
  ]
  return owners.flatMap(({ owner, tools }) => {
    const patterns: unknown[] = Array.isArray(tools) ? tools : []
    const texts = patterns.filter((pattern) => typeof pattern === 'string')
    if (texts.length === 0 || texts.some((one) => names.some((name) => matchesPattern(one, name))))
      return []
    const near = texts.length === 1 ? nearestName(texts[0] as string, names) : undefined
    const advice = near === undefined ? '' : `; did you mean ${near}?`
    return [`${owner} matches no tool of these agents: ${alternatives(texts, 'and')}${advice}`]
  })
}
