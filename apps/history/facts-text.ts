// The facts about a turn or a conversation as short texts for people: for lists and for reports.

import { approvalGuard } from '../../shared/contract/guard/approval-guard.ts'
import { onceGuard } from '../../shared/contract/guard/once-guard.ts'
import type { TurnFacts } from '../../shared/view/turn-facts.ts'
import { count, elapsed } from '../terminal/text/quantities.ts'

/**
 * The notable facts, the most important first: `loop stopped by identical-failure`, `2 calls denied
 * by no-rome`, `waited 50 s for a person`. Empty: nothing is notable. Names are foreign text.
 */
export function factTexts(facts: TurnFacts): string[] {
  const { rules, denials, deniedByChecks, approvals, approvalMs, unjudged } = facts
  const texts: string[] = []
  const { guard: byGuards = 0, ...byRules } = rules
  const names = Object.keys(byRules)
  if (names.length > 0) {
    const number = Object.values(byRules).reduce((sum, n) => sum + n, 0)
    texts.push(`${count(number, 'intervention')} by ${names.join(', ')}${actionText(facts)}`)
  }
  if (byGuards > 0) texts.push(`${count(byGuards, 'intervention')} by guards`)
  for (const [guard, n] of Object.entries(denials)) {
    const effect = guard === onceGuard ? ', and none ran twice' : ''
    if (guard !== approvalGuard) texts.push(`${count(n, 'call')} denied by ${guard}${effect}`)
  }
  if (deniedByChecks > 0) texts.push(`${count(deniedByChecks, 'call')} denied before running`)
  const { allow = 0, deny = 0, expired = 0, withdrawn = 0, pending = 0 } = approvals
  if (allow > 0) texts.push(`${count(allow, 'call')} allowed by a person`)
  if (deny > 0) texts.push(`${count(deny, 'call')} denied by a person`)
  if (expired > 0) texts.push(`${count(expired, 'call')} that nobody decided`)
  if (withdrawn > 0) texts.push(`${count(withdrawn, 'approval')} withdrawn`)
  if (pending > 0) texts.push(`${count(pending, 'call')} waiting for a person`)
  if (approvalMs > 0) texts.push(`waited ${elapsed(approvalMs)} for a person`)
  for (const [kind, n] of Object.entries(unjudged))
    texts.push(`${count(n, 'request')} unjudged: ${kind}`)
  return texts
}

/** The strongest action, if it is not only a nudge. */
function actionText({ actions: { text_only = 0, end = 0 } }: TurnFacts): string {
  if (end > 0) return ', which ended the turn'
  return text_only > 0 ? ', up to a request without tools' : ''
}
