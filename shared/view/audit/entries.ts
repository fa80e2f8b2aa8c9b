// The evidence in `audit` as entries: each decision about a call with the call's end, and each change of
// an operator. Pure. The command, the API and the console show these entries.
// A decision that comes twice counts once, by the fields that its hash covers. The id of
// its record (R3) is covered by no hash, so it decides nothing.
// The newest `max` entries are kept. The number of the others is known.
// An entry of a conversation that was deleted later has no content.

import { hash } from 'node:crypto'
import { contentHash, type Evidence, withoutContent } from '../../contract/audit/link.ts'
import { type ConversationId, callKey, type TurnId, turnKey } from '../../contract/ids.ts'
import type {
  ApprovalOutcome,
  AuditChanged,
  AuditDecided,
  AuditFollowed,
  PersonIdentity,
  RedactRule,
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

/** The place of its record in `audit`. */
type Place = { partition: number; offset: number }

/** `withheld`: all of its content was erased, or is not shown. */
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
  Omit<AuditDecided, 'type' | 'input' | 'outcome' | 'arguments' | 'link'> & {
    kind: 'approval' | 'question'
    action: ApprovalOutcome
    rawArguments: string | null
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

/** The evidence of a deleted conversation names it so. No setting has this key. */
const conversationPrefix = 'conversation:'

/** The evidence of an API key names it so: `api-key:acme/ci`, without a tenant `api-key:/ops`. */
const apiKeySettingPrefix = 'api-key:'

/** The name of an API key in evidence. `tenant` null: all tenants. */
export function apiKeySetting({ tenant, name }: { tenant: string | null; name: string }): string {
  return `${apiKeySettingPrefix}${tenant ?? ''}/${name}`
}

const titlePrefix = 'title:'

/** The evidence of a new title names it so. It has no words of the title, which can be deleted. */
export function titleSetting(conversation: ConversationId): string {
  return `${titlePrefix}${conversation}`
}

/** The prefix of the keys of each kind of setting. */
const changePrefixes = {
  stop: stopKeyPrefix,
  budget: budgetKeyPrefix,
  guard: guardKeyPrefix,
  policy: policyKeyPrefix,
  prices: pricesKey,
  key: apiKeySettingPrefix,
  deletion: conversationPrefix,
  title: titlePrefix,
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
  apply(place: Place, message: Evidence): void
  /** In the order of their times. */
  entries(): AuditEntry[]
  /** The number of older entries that are not kept. */
  readonly left: number
  readonly names: AuditNames
  /** The rules of the agent of this turn. Undefined: the evidence does not have them. */
  rulesOf(call: TurnId): readonly RedactRule[] | undefined
}

export function auditFold(where: AuditWhere, max: number): AuditFold {
  const entries: AuditEntry[] = []
  /** Of `entries`, each with its identity. */
  const calls = new Map<string, { entry: AuditedCall; identity: string }[]>()
  /** The time of the last deletion of each conversation. */
  const deletions = new Map<string, Milliseconds>()
  const rules = new Map<string, readonly RedactRule[]>()
  const names: AuditNames = { by: new Set(), tool: new Set() }
  let left = 0

  function addDecision(message: AuditDecided, place: Place): void {
    const content = contentHash(message)
    const entry: AuditedCall = { ...callOf(message, place), withheld: content === undefined }
    const identity = identityOf(message, message.link?.content ?? content)
    const others = calls.get(callKey(entry)) ?? []
    if (others.some((other) => other.identity === identity)) return
    if (isIn(entry, where)) calls.set(callKey(entry), [...others, { entry, identity }])
    add(entry)
  }

  function add(entry: AuditEntry): void {
    if (!isIn(entry, { since: where.since, until: where.until, tenant: where.tenant })) return
    if (entry.by !== '') addName(names.by, entry.by, where.by)
    if ('name' in entry) addName(names.tool, entry.name, where.tool)
    if (!isIn(entry, where)) return
    entries.push(entry)
    if (entries.length >= 2 * max) dropOldest()
  }

  function dropOldest(): void {
    entries.sort(byTime)
    for (const entry of entries.splice(0, Math.max(0, entries.length - max))) {
      left += 1
      if (!('name' in entry)) continue
      const kept = (calls.get(callKey(entry)) ?? []).filter((other) => other.entry !== entry)
      if (kept.length > 0) calls.set(callKey(entry), kept)
      else calls.delete(callKey(entry))
    }
  }

  /** Of the entries, and of the newest `max` other turns: a later entry may be of one. */
  function dropRules(): void {
    const needed = new Set(entries.flatMap((entry) => ('name' in entry ? [turnKey(entry)] : [])))
    const older = [...rules.keys()].slice(0, -max)
    for (const turn of older) if (!needed.has(turn)) rules.delete(turn)
  }

  function noteDeletion({ setting, isRemoved, at }: AuditChanged): void {
    if (!isRemoved || !setting.startsWith(conversationPrefix)) return
    const conversation = setting.slice(conversationPrefix.length)
    deletions.set(conversation, Math.max(at, deletions.get(conversation) ?? 0))
  }

  function withoutDeleted(entry: AuditEntry): AuditEntry {
    if (!('name' in entry) || entry.at > (deletions.get(entry.conversation) ?? -1)) return entry
    return withheldCall(entry)
  }

  return {
    apply({ partition, offset }, message) {
      switch (message.type) {
        case 'audit-decided':
          return addDecision(message, { partition, offset })
        case 'audit-changed':
          noteDeletion(message)
          return add(changeOf(message, { partition, offset }))
        case 'audit-followed': {
          const { status, reason, durationMs, at } = message
          rules.set(turnKey(message), message.redact)
          if (rules.size >= 4 * max) dropRules()
          for (const { entry } of calls.get(callKey(message)) ?? [])
            entry.followed = { status, reason, durationMs, at }
          return
        }
        default:
          return message satisfies never
      }
    },
    entries() {
      dropOldest()
      return entries.map(withoutDeleted)
    },
    get left() {
      return left
    },
    names,
    rulesOf: (call) => rules.get(turnKey(call)),
  }
}

/** The names of a text that lists them. The name of the filter is always among them. */
const namesMax = 1_000

function addName(names: Set<string>, name: string, asked: string | undefined): void {
  if (names.size < namesMax || name === asked) names.add(name)
}

/** Of two copies the same, also if one of them has lost its content or has another link. */
function identityOf(message: AuditDecided, content: string | undefined): string {
  const fields = withoutContent({ ...message, link: null })
  return hash('sha256', JSON.stringify([fields, content]))
}

/** The decision without its content. */
export function withheldCall(entry: AuditedCall): AuditedCall {
  const none = { rawArguments: null, rule: null, question: null, values: null, reason: null }
  const followed = entry.followed && { ...entry.followed, reason: null }
  return { ...entry, ...none, followed, withheld: true }
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
    (tool === undefined || ('name' in entry && entry.name === tool)) &&
    (kind === undefined || entry.kind === kind) &&
    (tenant === undefined || entry.tenant === tenant)
  )
}

function callOf(message: AuditDecided, place: Place): AuditedCall {
  const { type: _, arguments: rawArguments, outcome, input, link: __, ...rest } = message
  return {
    ...rest,
    kind: input === 0 ? 'approval' : 'question',
    action: outcome,
    rawArguments,
    place,
    tenant: tenantOf(message.conversation),
    withheld: false,
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
    withheld: contentHash(message) === undefined,
  }
}

function kindOf(setting: string): ChangeKind {
  const kinds = Object.entries(changePrefixes) as [ChangeKind, string][]
  return kinds.find(([, prefix]) => setting.startsWith(prefix))?.[0] ?? 'other'
}

/** Null: the setting concerns all tenants, or an agent or a tool of several ones. */
function tenantOfSetting(setting: string): string | null {
  const [, ofConversation] = /^(?:(?:stop:)?conversation|title):(.*)$/s.exec(setting) ?? []
  if (ofConversation !== undefined) return tenantOf(ofConversation)
  const [, ofStop = ''] = /^stop:tenant:(.*)$/s.exec(setting) ?? []
  const [, ofPair = ''] = /^(?:budget|api-key):([^/]*)\//.exec(setting) ?? []
  const tenant = ofStop || ofPair
  return isTenant(tenant) ? tenant : null
}
