// Entries of evidence for other systems: OCSF 1.5 (JSON, the class Entity Management) and CEF (a line).
// A value of the log cannot end a field or a line: each format escapes its signs.

import { version } from '../../../shared/lib/version.ts'
import type { AuditEntry } from '../../../shared/view/audit/entries.ts'
import { followedWord } from '../../../shared/view/audit/followed.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'

export const auditFormats = { ocsf: ocsfLine, cef: cefLine } as const

export type AuditFormat = keyof typeof auditFormats

const entityManagement = 3004
const activities = { create: 1, update: 3, delete: 4, other: 99 } as const

function ocsfLine(entry: AuditEntry): string {
  const activity = activities[activityOf(entry)]
  const { at, by, identity, tenant, place, ...details } = entry
  return printableJson({
    category_uid: 3,
    class_uid: entityManagement,
    activity_id: activity,
    activity_name: entry.action,
    type_uid: entityManagement * 100 + activity,
    severity_id: 1,
    status_id: 1,
    time: at,
    message: titleOf(entry),
    metadata: {
      version: '1.5.0',
      product: { name: 'Weir', vendor_name: 'Weir', version: version() },
      uid: uidOf(entry),
      ...(tenant !== null && { tenant_uid: tenant }),
    },
    actor: { user: { name: by } },
    entity: {
      name: 'name' in entry ? entry.name : entry.setting,
      type_id: 99,
      type: 'name' in entry ? 'Tool call' : `Weir ${entry.kind}`,
      uid: 'name' in entry ? entry.id : entry.setting,
    },
    unmapped: { identity, ...details },
  })
}

function activityOf(entry: AuditEntry): keyof typeof activities {
  if ('name' in entry) return 'other'
  if (entry.action === 'removed') return 'delete'
  return entry.before === '' ? 'create' : 'update'
}

function cefLine(entry: AuditEntry): string {
  const name = `${entry.kind}.${entry.action}`
  const header = ['Weir', 'Weir', version(), name, titleOf(entry), '3'].map(headerText)
  const fields = Object.entries(cefFields(entry)).flatMap(([key, value]) =>
    value === null || value === '' ? [] : [`${key}=${fieldText(String(value))}`],
  )
  return `CEF:0|${header.join('|')}|${fields.join(' ')}`
}

function cefFields(entry: AuditEntry): Record<string, string | number | null> {
  const { at, by, identity, tenant, action } = entry
  const common = { rt: at, externalId: uidOf(entry), suser: by, act: action }
  const labelled = {
    cs1Label: 'identity',
    cs1: identity,
    ...(tenant !== null && tenantField(tenant)),
  }
  if (!('name' in entry)) {
    const change = { cs3Label: 'before', cs3: entry.before, cs4Label: 'after', cs4: entry.after }
    return { ...common, ...labelled, fname: entry.setting, ...change }
  }
  const { name: fname, conversation, agent, hash, reason } = entry
  const call = { cs3Label: 'conversation', cs3: conversation, cs4Label: 'agent', cs4: agent }
  const proof = { cs5Label: 'hash', cs5: hash, cs6Label: 'id', cs6: entry.id }
  const end = { outcome: followedWord(entry), reason, msg: entry.rawArguments }
  return { ...common, ...labelled, fname, ...call, ...proof, ...end }
}

function tenantField(tenant: string): Record<string, string> {
  return { cs2Label: 'tenant', cs2: tenant }
}

/** Unique in a log, and equal in each export. */
function uidOf({ place }: Pick<AuditEntry, 'place'>): string {
  return `${place.partition}/${place.offset}`
}

function titleOf(entry: AuditEntry): string {
  return `${entry.kind} ${entry.action}: ${'name' in entry ? entry.name : entry.setting}`
}

function headerText(text: string): string {
  return printable(text.replace(/[\\|]/g, '\\$&'))
}

function fieldText(text: string): string {
  return printable(text.replace(/[\\=]/g, '\\$&'))
}
