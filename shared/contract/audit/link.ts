// The hashes of evidence in `audit`. Pure.
// The hash of a record covers its link and all fields but the content. The link has the
// hash of the content, so erased content breaks no chain.
// The fields are listed here. A field of a later version joins the hash only where it is
// not its default, so hashes of older records stay.

import { hash } from 'node:crypto'
import type { AuditChanged, AuditDecided, AuditFollowed, AuditLink, Message } from '../messages.ts'

export type Evidence = AuditDecided | AuditFollowed | AuditChanged

export const evidenceTypes: ReadonlySet<string> = new Set<Evidence['type']>([
  'audit-decided',
  'audit-followed',
  'audit-changed',
])

export function isEvidence(message: Message | undefined): message is Evidence {
  return message !== undefined && evidenceTypes.has(message.type)
}

/** The record at this place of its writer's chain. */
export function withLink<One extends Evidence>(
  message: One,
  place: Omit<AuditLink, 'content'>,
): One & { link: AuditLink } {
  return { ...message, link: { ...place, content: contentHash(message) ?? '' } }
}

/** Undefined: the content was erased, which means all fields of it. */
export function contentHash(message: Evidence): string | undefined {
  const content = contentOf(message)
  return content.every((field) => field === null) ? undefined : sha256(content)
}

/** The record without its content. Its hash, its place in the chain and its other fields stay. */
export function withoutContent(message: Evidence): Evidence {
  switch (message.type) {
    case 'audit-decided': {
      const none = { arguments: null, rule: null, question: null, values: null, reason: null }
      return { ...message, ...none }
    }
    case 'audit-followed':
      return { ...message, reason: null }
    case 'audit-changed':
      return { ...message, before: null, after: null }
    default:
      return message satisfies never
  }
}

/** Undefined: the record has no link. */
export function recordHash(message: Evidence): string | undefined {
  const { type, link } = message
  if (link === null) return undefined
  const { writer, sequence, previous, seen, content } = link
  return sha256([type, fieldsOf(message), writer, sequence, previous, seen, content])
}

function sha256(values: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(values))
}

function contentOf(message: Evidence): (string | null)[] {
  switch (message.type) {
    case 'audit-decided': {
      const { arguments: text, rule, question, values, reason } = message
      return [text, rule, question, values, reason]
    }
    case 'audit-followed':
      return [message.reason]
    case 'audit-changed':
      return [message.before, message.after]
    default:
      return message satisfies never
  }
}

function fieldsOf(message: Evidence): unknown[] {
  switch (message.type) {
    case 'audit-decided': {
      const { conversation, turn, round, ordinal, agent, name, id, hash: ofCall } = message
      const { program, input, source, askedAt, at, outcome, by, identity } = message
      const call = [conversation, turn, round, ordinal, agent, name, id, ofCall, program]
      return [...call, input, source, askedAt, at, outcome, by, identity]
    }
    case 'audit-followed': {
      const { conversation, turn, round, ordinal, name, status, durationMs, at } = message
      const rules = message.redact.map((rule) => [rule.name, rule.pattern, rule.path])
      return [conversation, turn, round, ordinal, name, status, durationMs, at, rules]
    }
    case 'audit-changed': {
      const { setting, isRemoved, at, by, identity } = message
      return [setting, isRemoved, at, by, identity]
    }
    default:
      return message satisfies never
  }
}
