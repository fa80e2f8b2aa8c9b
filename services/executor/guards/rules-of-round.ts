// The approval rules in a round's policy, unchecked: the stage `approval` judges by them.

import { approvalGuard } from '../../../shared/contract/guard/approval-guard.ts'
import type { Policy } from '../../../shared/contract/messages.ts'
import { isObject, jsonIn } from '../../../shared/lib/json/json-object.ts'
import { matchesPattern } from '../../../shared/runtime/guards/tool-pattern.ts'

/** The rules for this tool. In doubt a rule is for it. */
export function rulesForTool({ guards }: Policy, tool: string): Record<string, unknown>[] {
  const rules = jsonIn(guards.find(({ name }) => name === approvalGuard)?.rules ?? undefined)
  return (Array.isArray(rules) ? rules.filter(isObject) : []).filter(
    ({ tools }) =>
      !Array.isArray(tools) ||
      tools.some((pattern) => typeof pattern !== 'string' || matchesPattern(pattern, tool)),
  )
}
