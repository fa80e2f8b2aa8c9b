// `weir audit`: every decision of a person with its question and the end of its call, and every change of
// an operator. Changes nothing, and works next to a running Weir.

import { limits } from '../../../shared/contract/limits.ts'
import { isTenant, tenantRule } from '../../../shared/contract/tenant.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { nearestName } from '../../../shared/settings/nearest-name.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import {
  type AuditEntry,
  type AuditedCall,
  type AuditWhere,
  auditKinds,
} from '../../../shared/view/audit/entries.ts'
import { followedWord } from '../../../shared/view/audit/followed.ts'
import { painted } from '../../terminal/paint.ts'
import { processStreams, type Streams } from '../../terminal/streams.ts'
import { programText } from '../../terminal/text/activity-texts.ts'
import { argumentLines } from '../../terminal/text/argument-lines.ts'
import { instantOfFlag } from '../../terminal/text/instant-text.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { count, elapsed, second } from '../../terminal/text/quantities.ts'
import { withLog } from '../open-log.ts'
import { type AuditFormat, auditFormats } from './formats.ts'
import { type AuditList, readAudit } from './read.ts'

export type AuditOptions = {
  since?: string
  until?: string
  by?: string
  tool?: string
  kind?: string
  tenant?: string
  unredacted?: boolean
  json?: boolean
  format?: AuditFormat
}

/**
 * Prints the entries in the order of their times. With `json`, one AuditEntry per line. Lines about
 * entries that are not listed go to standard error if a program reads the output.
 */
export async function audit(
  options: AuditOptions,
  settings: Settings,
  { out, errors }: Omit<Streams, 'input'> = processStreams(),
): Promise<void> {
  const { json = false, unredacted, format } = options
  if (json && format !== undefined)
    throw usageError('--json and --format are given: give one of them')
  const where = auditWhere(options, Date.now())
  const list = await withLog(settings, (log) => readAudit(log, where, limits.auditEntriesMax), {
    unredacted,
  })
  const lineOf = json ? printableJson : format && auditFormats[format]
  for (const entry of list.entries)
    out.write(`${lineOf?.(entry) ?? entryLines(entry, out).join('\n')}\n`)
  const ends = lineOf === undefined ? out : errors
  for (const line of endLines(list, where)) ends.write(`${line}\n`)
}

/** `sign`: in front of a parameter's name in an error. Throws `usage`. */
export function auditWhere(
  { since, until, by, tool, kind, tenant }: Omit<AuditOptions, 'json' | 'format' | 'unredacted'>,
  now: number,
  sign: '--' | '' = '--',
): AuditWhere {
  if (kind !== undefined && !auditKinds.some((known) => known === kind)) {
    const near = nearestName(kind, auditKinds)
    const meant = near === undefined ? '' : ` Did you mean ${near}?`
    throw usageError(
      `unknown kind '${printable(kind)}' (${sign}kind).${meant} Kinds: ${auditKinds.join(', ')}`,
    )
  }
  if (tenant !== undefined && !isTenant(tenant))
    throw usageError(`the tenant is '${printable(tenant)}' (${sign}tenant): ${tenantRule}`)
  const from = since === undefined ? undefined : instantOfFlag(`${sign}since`, since, now)
  const to = until === undefined ? undefined : instantOfFlag(`${sign}until`, until, now)
  return { since: from, until: to, by, tool, kind, tenant }
}

function entryLines(entry: AuditEntry, out: NodeJS.WriteStream): string[] {
  const title = 'name' in entry ? `${entry.name}` : entry.setting
  const head = `${second(entry.at)}  ${entry.kind} ${entry.action}  ${printable(title)}`
  const lines = [`${painted(out, 'title', head)}  ${authorText(entry)}`]
  if ('name' in entry) return [...lines, ...callLines(entry, out)]
  const { before, after } = entry
  if (entry.withheld) return [...lines, `    ${withheldText}`]
  const was = before ? [`    before: ${printable(before)}`] : []
  return [...lines, ...was, ...(after ? [`    after:  ${printable(after)}`] : [])]
}

const withheldText = 'its content was erased, or the rules that hide values of it are gone'

function callLines(entry: AuditedCall, out: NodeJS.WriteStream): string[] {
  const { conversation, turn, round, ordinal, agent, hash, id, rule, reason, values } = entry
  const columns = out.isTTY === true ? out.columns || 80 : Number.POSITIVE_INFINITY
  const program = programText(entry.program)
  return [
    ...(entry.rawArguments === null
      ? [`    ${withheldText} (--unredacted)`]
      : argumentLines(entry.rawArguments, columns)),
    `    ${id}, hash ${hash}${program === undefined ? '' : `, ${program}`}`,
    `    conversation ${printable(conversation)}, turn at ${turn}, round ${round}, call ${ordinal}, agent ${printable(agent)}`,
    ...(rule ? [`    rule ${printable(rule)}`] : []),
    ...(reason ? [`    reason ${printable(reason)}`] : []),
    ...(values ? [`    values ${printable(values)}`] : []),
    `    waited ${elapsed(Math.max(0, entry.at - entry.askedAt))}; then: ${endText(entry)}`,
  ]
}

function endText(entry: AuditedCall): string {
  const { followed } = entry
  const word = followedWord(entry)
  if (followed === null) return word
  const why = followed.reason ? ` (${printable(followed.reason)})` : ''
  const took = followed.durationMs > 0 ? ` after ${elapsed(followed.durationMs)}` : ''
  return `${word}${took}${why}`
}

function authorText({ by, identity }: Pick<AuditEntry, 'by' | 'identity'>): string {
  return by === '' ? 'by nobody' : `by ${printable(by)} (${identity})`
}

function endLines({ entries, left, hidden, names }: AuditList, where: AuditWhere): string[] {
  const lines: string[] = []
  if (entries.length === 0) lines.push(nothingText(where, names))
  if (left > 0) lines.push(`${count(left, 'older entry')} left out: give --since and --until`)
  if (hidden > 0) lines.push(`${count(hidden, 'record')} cannot be read`)
  return lines
}

function nothingText({ by, tool }: AuditWhere, names: AuditList['names']): string {
  const known = (values: Set<string>) =>
    printable([...values].sort().slice(0, namesShown).join(', ')) || 'none'
  if (by !== undefined && !names.by.has(by))
    return `nobody named ${printable(by)} decided or changed something then. Names: ${known(names.by)}`
  if (tool !== undefined && !names.tool.has(tool))
    return `nobody decided about a call of ${printable(tool)} then. Tools: ${known(names.tool)}`
  return 'no decision and no change matches'
}

const namesShown = 20
