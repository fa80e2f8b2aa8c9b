// `weir audit --verify`: checks the chains of the evidence in `audit`. Exit codes: 0 whole, 1 a fault,
// 3 no fault and no proof.
// A log is whole only if a head that was kept elsewhere proves its end, and its begin if
// records were deleted. Otherwise the answer names each part that is unproven.

import { endsOf } from '../../../client/history/readable-log.ts'
import { scan } from '../../../client/history/scan.ts'
import { encryptedByte, typeIn } from '../../../shared/codec/codec.ts'
import { messageOf } from '../../../shared/codec/message-of.ts'
import { evidenceTypes, isEvidence } from '../../../shared/contract/audit/link.ts'
import { keptBy } from '../../../shared/contract/retention.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import {
  type AuditFault,
  type AuditHead,
  checkPartition,
  headsIn,
  headText,
} from '../../../shared/view/audit/chain.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'
import { type OpenLog, withLog } from '../open-log.ts'

export type VerifyOptions = { expect?: string; json?: boolean }

/**
 * `--json` prints one of these. `unproven`: the parts that nothing proves, in words. `head`: for
 * `--expect` of a later check.
 */
export type VerifiedAudit = {
  result: 'whole' | 'fault' | 'unproven'
  records: number
  erased: number
  hidden: number
  faults: AuditFault[]
  unproven: string[]
  head: string
}

const exitCodes = { whole: 0, fault: 1, unproven: 3 } as const

/** Resolves to the exit code. Throws `usage`. */
export async function verifyAudit(
  { expect, json = false }: VerifyOptions,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<0 | 1 | 3> {
  const expected = expect === undefined ? [] : headsIn(expect)
  if (expected === undefined)
    throw usageError(
      `--expect is '${printable(expect ?? '')}': give the head that weir audit --verify printed`,
    )
  const isKept = keptBy(settings).retentionMs === undefined
  const verified = await withLog(settings, (log) => verify(log, { expected, isKept }))
  if (json) out.write(`${printableJson(verified)}\n`)
  else for (const line of linesOf(verified)) out.write(`${line}\n`)
  return exitCodes[verified.result]
}

/** `isKept`: the retention deletes no evidence. */
async function verify(
  log: OpenLog,
  { expected, isKept }: { expected: readonly AuditHead[]; isKept: boolean },
): Promise<VerifiedAudit> {
  const faults: AuditFault[] = []
  const heads: AuditHead[] = []
  const unproven: string[] = expected.length === 0 ? [unprovenEnd] : []
  const sum = { records: 0, erased: 0, hidden: 0 }
  const places = await endsOf(log, 'audit')
  for (const { partition, begin } of places) {
    const check = checkPartition(partition, begin)
    if (begin > 0 && isKept) faults.push(unkeptFault(partition, begin))
    for await (const records of scan(log, { topic: 'audit', partition }))
      for (const { offset, value } of records) {
        const message = messageOf(value)
        if (isEvidence(message)) check.apply(offset, message)
        else check.apply(offset, isEncryptedEvidence(value) ? 'hidden' : 'none')
      }
    const ofPartition = expected.filter((head) => head.partition === partition)
    faults.push(...check.faults, ...ofPartition.flatMap((head) => check.faultOf(head) ?? []))
    if (begin > 0 && ofPartition.every((head) => head.begin !== begin))
      unproven.push(unprovenBegin(partition, begin))
    if (check.head !== undefined) heads.push(check.head)
    for (const name of ['records', 'erased', 'hidden'] as const) sum[name] += check.counts[name]
  }
  const unread = expected.filter((head) => places.every((one) => one.partition !== head.partition))
  faults.push(...unread.map(unreadFault))
  if (sum.hidden > 0) unproven.push(unprovenHidden(sum.hidden))
  const proof = unproven.length === 0 ? 'whole' : 'unproven'
  const result = faults.length === 0 ? proof : 'fault'
  return { result, ...sum, faults, unproven, head: headText(heads) }
}

const unprovenEnd =
  'the newest records can be missing, also all records: give the head of an earlier check (--expect)'

function unprovenBegin(partition: number, begin: number): string {
  return `the records of partition ${partition} before ${begin} are deleted: only a head (--expect) from after the deletion proves this begin`
}

function unprovenHidden(hidden: number): string {
  return `${count(hidden, 'record')} cannot be read, and as many missing records cannot be found`
}

/** Whether the value has the header of evidence under a key that this process does not have. */
function isEncryptedEvidence(value: Uint8Array | null): boolean {
  return value?.[0] === encryptedByte && evidenceTypes.has(typeIn(value) ?? '')
}

function unkeptFault(partition: number, begin: number): AuditFault {
  const text = `the records before ${begin} were deleted, and retentionDays is 0, which deletes none`
  return { partition, offset: begin, fault: 'deleted', text }
}

function unreadFault({ partition, offset }: AuditHead): AuditFault {
  const text = 'its partition of the topic audit is missing. Is the topic prefix right?'
  return { partition, offset, fault: 'truncated', text }
}

function linesOf({ result, records, erased, faults, unproven, head }: VerifiedAudit): string[] {
  const ends = {
    whole: 'none is changed, missing or moved',
    fault: count(faults.length, 'fault'),
    unproven: 'no fault, unproven',
  }
  return [
    ...faults.map(
      ({ partition, offset, fault, text }) => `${fault}  ${partition}/${offset}: ${text}`,
    ),
    ...unproven.map((text) => `unproven  ${text}`),
    ...(erased > 0 ? [`the content of ${count(erased, 'record')} was erased`] : []),
    `${count(records, 'record')}: ${ends[result]}`,
    ...(head === '' ? [] : [`head ${head}`]),
  ]
}
