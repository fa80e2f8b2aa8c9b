// The data of the pages for operators: guards, policies, what-ifs and stops.

import type { GuardRegistration } from '../../../../shared/contract/messages.ts'
import type { SweepRow } from '../../../replay/sweep-table.ts'
import type { Decision } from '../../../replay/what-if/change.ts'
import type { ShownBudget } from '../../../service/budgets/list.ts'
import type { ListedGuard } from '../../../service/guards/list.ts'
import type { ShownPin } from '../../../service/mcp/shown-pin.ts'
import type { ShownPolicy } from '../../../service/policy/shown-policy.ts'
import type { StageProgress } from '../../../service/stage-progress.ts'
import type { ReleasedStop, ShownStop } from '../../../service/stops/list.ts'

/**
 * Verdicts on calls in one minute. `denies`, `wouldDeny`: by an enforcing guard, and in shadow; a
 * request for a person counts as one. `silent`: rounds without an answer in time. `p50Ms`: null: no
 * answer.
 */
export type VerdictsOfMinute = {
  at: number
  allows: number
  denies: number
  wouldDeny: number
  silent: number
  p50Ms: number | null
}

/** `rules`: of the approval guard, as JSON. `setBy`: empty: an older version wrote it. */
export type ConsoleGuard = ListedGuard &
  Pick<GuardRegistration, 'rules' | 'setBy' | 'registeredAt'> & { minutes: VerdictsOfMinute[] }

/** Counts of the last hour. */
export type GuardsData = { guards: ConsoleGuard[]; now: number }

/** `policy`: of `agent`, with its effective values. `meanings`: of its keys. */
export type PoliciesData = {
  agents: string[]
  agent: string
  policy: ShownPolicy
  meanings: Readonly<Record<string, string>>
}

/** The first changed decision of a conversation. `lost`: calls that had succeeded and would not run. */
export type TurnChange = {
  conversation: string
  round: number
  was: Pick<Decision, 'action' | 'rule'> | null
  is: Pick<Decision, 'action' | 'rule'> | null
  roundsSaved: number
  tokensSaved: number
  roundsLater: number
  lost: number
}

/**
 * `conversation` null: recent turns of the agent. `current`: the value in force for the agent; null: none
 * is known. `turns`: those that were judged.
 */
export type WhatIfData = {
  agent: string
  conversation: string | null
  key: string
  current: number | null
  turns: number
  conversations: number
  rows: (SweepRow & { changes: TurnChange[] })[]
}

/** `more`: accounts of the budget that are not shown. */
export type BudgetsData = { budgets: (ShownBudget & { more: number })[] }

/** `released`: the newest releases, the newest first. */
export type StopsData = { stops: ShownStop[]; released: ReleasedStop[] }

/** `idleSince`: the first look without a process; null: one runs it. */
export type ConsoleStage = StageProgress & { idleSince: number | null }

export type StagesData = { stages: ConsoleStage[] }

/** `lines`: of the difference. `hasMore`: more lines than the page shows. */
export type HeldTool = ShownPin & { hasMore: boolean }

/** `more`: held tools that are not shown. */
export type HeldToolsData = { tools: HeldTool[]; more: number }
