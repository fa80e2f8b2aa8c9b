// The evidence in `audit` as entries: each decision about a call with the call's end, and each change of
// an operator. Pure. The command, the API and the console show these entries.
// AUDIT-VIEW-1. Derived records that come twice count once, by their writer's mark (R3).
// AUDIT-VIEW-2. The newest `max` entries are kept. The number of the others is known.

import type { Evidence } from '../../contract/audit/link.ts'
import type { StoredRecord } from '../../contract/bus.ts'
import { type CallId, callKey } from '../../contract/ids.ts'
import type {
  ApprovalOutcome,
  ArgumentSource,
  AuditChanged,
  AuditDecided,
  AuditFollowed,
  PersonIdentity,
  RedactRule,
  ResultStatus,
} from '../../contract/messages.ts'
import { isTenant, tenantOf } from '../../contract/tenant.ts'
import {
  budgetKeyPrefix,
  guardKeyPrefix,
  policyKeyPrefix,
  pricesKey,
  stopKeyPrefix,
} from '../../contract/topology.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { isRepeat, type Marks, moveMark, parseId } from '../../runtime/derived-id.ts'

/** The place of its record in `audit`. */
type Place = { partition: number; offset: number }

/** `withheld`: its content was erased, or is not shown. */
type Common = {
  place: Place
  at: Milliseconds
  /** Empty: no person. */
  by: string
  identity: PersonIdentity
  /** Null: it concerns all tenants. */
  tenant: string | null
  withheld: boolean
}

/** The end of the call. Null: the round has not ended, or the call did not run. */
type Followed = Pick<AuditFollowed, 'status' | 'reason' | 'durationMs' | 'at'> | null

export type AuditedCall = Common &
  CallId & {
    kind: 'approval' | 'question'
    action: ApprovalOutcome
    agent: string
    tool: string
    id: string
    /** SHA-256, in hex, of tool, arguments and program. */
    hash: string
    program: string | null
    source: ArgumentSource | null
    askedAt: Milliseconds
    arguments: string | null
    rule: string | null
    question: string | null
    values: string | null
    reason: string | null
    followed: Followed
  }

export type AuditedChange = Common & {
  kind: ChangeKind
  action: 'set' | 'removed'
  /** The key of the setting, such as `stop:agent:bank`. */
  setting: string
  /** As JSON. Empty: there was none. */
  before: string | null
  after: string | null
}

export type AuditEntry = AuditedCall | AuditedChange

/** The prefix of the keys of each kind of setting. */
const changePrefixes = {
  stop: stopKeyPrefix,
  budget: budgetKeyPrefix,
  guard: guardKeyPrefix,
  policy: policyKeyPrefix,
  prices: pricesKey,
  key: 'key:',
} as const

export type ChangeKind = keyof typeof changePrefixes | 'other'

export const auditKinds = [
  'approval',
  'question',
  ...(Object.keys(changePrefixes) as ChangeKind[]),
  'other',
] as const

export type AuditWhere = {
  since?: Milliseconds | undefined
  until?: Milliseconds | undefined
  by?: string | undefined
  tool?: string | undefined
  kind?: string | undefined
  tenant?: string | undefined
}

/** The names that the entries of a time have, for an answer without entries. */
export type AuditNames = { by: Set<string>; tool: Set<string> }

export type AuditFold = {
  apply(record: Pick<StoredRecord, 'id' | 'partition' | 'offset'>, message: Evidence): void
  /** In the order of their times. */
  entries(): AuditEntry[]
  /** The number of older entries that are not kept. */
  readonly left: number
  readonly names: AuditNames
  /** The rules of the agent of this turn. Undefined: the evidence does not have them. */
  rulesOf(call: Pick<CallId, 'conversation' | 'turn'>): readonly RedactRule[] | undefined
}

export function auditFold(where: AuditWhere, max: number): AuditFold {
  const marks = new Map<number, Marks>()
  const entries: AuditEntry[] = []
  const calls = new Map<string, AuditedCall[]>()
  const rules = new Map<string, readonly RedactRule[]>()
  const names: AuditNames = { by: new Set(), tool: new Set() }
  let left = 0

  function add(entry: AuditEntry): void {
    if (!isIn(entry, { since: where.since, until: where.until, tenant: where.tenant })) return
    if (entry.by !== '') names.by.add(entry.by)
    if ('tool' in entry) names.tool.add(entry.tool)
    if (!isIn(entry, where)) return
    entries.push(entry)
    if ('tool' in entry) calls.set(callKey(entry), [...(calls.get(callKey(entry)) ?? []), entry])
    if (entries.length >= 2 * max) dropOldest()
  }

  /** Keeps AUDIT-VIEW-2. */
  function dropOldest(): void {
    entries.sort(byTime)
    for (const entry of entries.splice(0, Math.max(0, entries.length - max))) {
      left += 1
      if ('tool' in entry) calls.delete(callKey(entry))
    }
  }

  return {
    apply({ id: given, partition, offset }, message) {
      const id = parseId(given)
      if (id !== undefined) {
        const own = marks.get(partition) ?? {}
        marks.set(partition, own)
        if (isRepeat(own, id)) return // keeps AUDIT-VIEW-1
        moveMark(own, id)
      }
      switch (message.type) {
        case 'audit-decided':
          return add(callOf(message, { partition, offset }))
        case 'audit-changed':
          return add(changeOf(message, { partition, offset }))
        case 'audit-followed': {
          const { status, reason, durationMs, at } = message
          rules.set(turnOf(message), message.redact)
          for (const entry of calls.get(callKey(message)) ?? [])
            entry.followed = { status, reason, durationMs, at }
          return
        }
        default:
          return message satisfies never
      }
    },
    entries() {
      dropOldest()
      return entries
    },
    get left() {
      return left
    },
    names,
    rulesOf: (call) => rules.get(turnOf(call)),
  }
}

function turnOf({ conversation, turn }: Pick<CallId, 'conversation' | 'turn'>): string {
  return JSON.stringify([conversation, turn])
}

function byTime(a: AuditEntry, b: AuditEntry): number {
  return a.at - b.at || a.place.partition - b.place.partition || a.place.offset - b.place.offset
}

/** `until` is exclusive. A tenant's entries are those that concern it alone. */
function isIn(entry: AuditEntry, { since, until, by, tool, kind, tenant }: AuditWhere): boolean {
  return (
    (since === undefined || entry.at >= since) &&
    (until === undefined || entry.at < until) &&
    (by === undefined || entry.by === by) &&
    (tool === undefined || ('tool' in entry && entry.tool === tool)) &&
    (kind === undefined || entry.kind === kind) &&
    (tenant === undefined || entry.tenant === tenant)
  )
}

function callOf(message: AuditDecided, place: Place): AuditedCall {
  const { type: _, name, outcome, input, link: __, ...rest } = message
  return {
    ...rest,
    kind: input === 0 ? 'approval' : 'question',
    action: outcome,
    tool: name,
    place,
    tenant: tenantOf(message.conversation),
    withheld: message.arguments === null,
    followed: null,
  }
}

function changeOf(message: AuditChanged, place: Place): AuditedChange {
  const { setting, isRemoved, at, by, identity, before, after } = message
  return {
    kind: kindOf(setting),
    action: isRemoved ? 'removed' : 'set',
    setting,
    at,
    by,
    identity,
    before,
    after,
    place,
    tenant: tenantOfSetting(setting),
    withheld: before === null || after === null,
  }
}

function kindOf(setting: string): ChangeKind {
  const kinds = Object.entries(changePrefixes) as [ChangeKind, string][]
  return kinds.find(([, prefix]) => setting.startsWith(prefix))?.[0] ?? 'other'
}

/** Null: the setting concerns all tenants, or an agent or a tool of several ones. */
function tenantOfSetting(setting: string): string | null {
  const [, scope = '', name = ''] = /^stop:(tenant|conversation):(.*)$/s.exec(setting) ?? []
  if (scope === 'conversation') return tenantOf(name)
  const [, ofBudget = ''] = /^budget:([^/]*)\//.exec(setting) ?? []
  const [, ofKey = ''] = /^key:([^/]*)\//.exec(setting) ?? []
  const tenant = name || ofBudget || ofKey
  return isTenant(tenant) ? tenant : null
}

/** The end of the call, in one word. */
export function followedWord({
  action,
  followed,
}: Pick<AuditedCall, 'action' | 'followed'>): ResultStatus | 'not run' | 'not known' {
  if (action === 'deny' || action === 'expired') return followed?.status ?? 'not run'
  return followed?.status ?? 'not known'
}
