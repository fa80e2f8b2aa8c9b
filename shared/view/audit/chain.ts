// Checks the chains of evidence: finds and names changed, missing, moved and added records of a
// partition (shared/contract/audit/link.ts). Pure.
// A record is judged by the content's hash, by the former record in the chain, and by the record
// that the writer saw last.
// No fault names records that the retention deleted, or that this process cannot read.
// Such a record explains one missing record and no other one.
// The end of a partition has no successor. Its head, kept elsewhere, proves it.

import { contentHash, type Evidence, recordHash } from '../../contract/audit/link.ts'
import type { AuditLink } from '../../contract/messages.ts'

export type AuditFault = {
  partition: number
  offset: number
  fault: 'changed' | 'missing' | 'moved' | 'unlinked' | 'truncated' | 'deleted'
  text: string
}

/** The newest record of a partition. `begin`: the offset of its oldest one. */
export type AuditHead = { partition: number; begin: number; offset: number; hash: string }

/** `hidden`: the number of unreadable records up to it. */
type LastOfChain = { sequence: number; hash: string; offset: number; hidden: number }

/** A record whose writer saw a record that did not stand before it. */
type Unseen = {
  offset: number
  seen: string
  before: number | undefined
  hidden: number
  /** No record up to this one names a record that was read, and the retention has deleted some. */
  isAtBegin: boolean
}

export type PartitionCheck = {
  /**
   * In the order of the log. `hidden`: evidence that is encrypted under an absent key. `none`: the
   * record is no evidence.
   */
  apply(offset: number, message: Evidence | 'hidden' | 'none'): void
  readonly faults: AuditFault[]
  readonly head: AuditHead | undefined
  readonly counts: { records: number; erased: number; hidden: number }
  /** The fault of a head that was kept elsewhere. Undefined: the record is there. */
  faultOf(head: AuditHead): AuditFault | undefined
}

/** Records after the retention's end whose writers may have seen only older ones: appends at one time. */
const atBeginMax = 10

/** `begin`: the oldest offset of the partition. */
export function checkPartition(partition: number, begin: number): PartitionCheck {
  const faults: AuditFault[] = []
  const counts = { records: 0, erased: 0, hidden: 0 }
  const chains = new Map<string, LastOfChain>()
  const hashes = new Map<string, number>()
  const byOffset = new Map<number, string>()
  const reported = new Set<string>()
  const unseen: Unseen[] = []
  /** Hashes of records that the retention deleted or that cannot be read. */
  const explained = new Set<string>()
  let explainedByHidden = 0
  let isAtBegin = begin > 0
  let before: number | undefined
  let head: AuditHead | undefined

  /** One of a kind for a record. */
  function report(fault: AuditFault['fault'], offset: number, text: string): void {
    if (reported.has(`${offset}/${fault}`)) return
    reported.add(`${offset}/${fault}`)
    faults.push({ partition, offset, fault, text })
  }

  /** Whether this many records of a chain can be missing after its last one. */
  function isExplained(missing: number, last: LastOfChain | undefined): boolean {
    if (last === undefined && begin > 0) return true
    return missing <= counts.hidden - (last?.hidden ?? 0)
  }

  function isSeenExplained({ seen, hidden, isAtBegin: isOfDeleted }: Unseen): boolean {
    if (explained.has(seen)) return true
    if (!isOfDeleted && explainedByHidden >= hidden) return false
    if (!isOfDeleted) explainedByHidden += 1
    explained.add(seen)
    return true
  }

  function checkChain(offset: number, link: AuditLink, hash: string): void {
    const { writer, sequence, previous, seen } = link
    const last = chains.get(writer)
    if (last?.hash === hash) return // sent again
    chains.set(writer, { sequence, hash, offset, hidden: counts.hidden })
    if (last !== undefined && sequence <= last.sequence)
      return report(
        'moved',
        offset,
        `it comes after a later record of its writer, at ${last.offset}`,
      )
    const next = (last?.sequence ?? 0) + 1
    if (sequence > next && !isExplained(sequence - next, last))
      return report('missing', offset, missingText(sequence - next, last?.offset))
    if (sequence === next && previous !== (last?.hash ?? ''))
      return report(
        'changed',
        last?.offset ?? offset,
        `the record at ${offset} has another hash of it`,
      )
    if (hashes.has(seen) || byOffset.size >= atBeginMax) isAtBegin = false
    if (seen !== '' && !hashes.has(seen))
      unseen.push({ offset, seen, before, hidden: counts.hidden, isAtBegin })
  }

  function reportUnseen(): void {
    for (const record of unseen.splice(0)) {
      const { offset, seen, before } = record
      if (hashes.has(seen))
        report(
          'moved',
          offset,
          `its writer saw the record at ${hashes.get(seen)}, which comes later`,
        )
      else if (isSeenExplained(record)) continue
      else if (before === undefined || before + 1 < offset)
        report('missing', offset, 'the record that its writer saw is missing before it')
      else report('changed', before, `the writer of ${offset} saw another record in its place`)
    }
  }

  return {
    apply(offset, message) {
      counts.records += 1
      if (counts.records === 1 && offset > begin)
        report('missing', offset, `the records from ${begin} on are missing before it`)
      if (message === 'none') {
        report('changed', offset, 'it is no evidence that this version can read')
        before = offset
        return
      }
      if (message === 'hidden') {
        counts.hidden += 1
        return
      }
      const hash = recordHash(message)
      if (hash === undefined || message.link === null) {
        report('unlinked', offset, 'it has no link, so its writer is unknown')
        before = offset
        return
      }
      const content = contentHash(message)
      if (content === undefined) counts.erased += 1
      else if (content !== message.link.content)
        report('changed', offset, 'its content is not what its writer wrote')
      checkChain(offset, message.link, hash)
      hashes.set(hash, offset)
      byOffset.set(offset, hash)
      before = offset
      head = { partition, begin, offset, hash }
    },
    get faults() {
      reportUnseen()
      return faults
    },
    counts,
    get head() {
      return head
    },
    faultOf({ begin: former, offset, hash }) {
      const faultAt = (at: number, fault: AuditFault['fault'], text: string): AuditFault => {
        return { partition, offset: at, fault, text }
      }
      if (former > begin)
        return faultAt(begin, 'moved', `the oldest record was at ${former} when the head was kept`)
      if (offset < begin) return faultAt(offset, 'deleted', deletedText(begin))
      if (byOffset.get(offset) === hash) return undefined
      if (byOffset.has(offset))
        return faultAt(offset, 'changed', 'its hash is not the expected one')
      return faultAt(offset, 'truncated', truncatedText(head))
    },
  }
}

function deletedText(begin: number): string {
  return `it cannot be proved: the oldest record is at ${begin}. Was it older than auditDays?`
}

function truncatedText(head: AuditHead | undefined): string {
  const newest = head === undefined ? '' : `: the newest one is at ${head.offset}`
  return `it was the newest record when its head was kept, and it is missing${newest}`
}

function missingText(count: number, after: number | undefined): string {
  const records = count === 1 ? '1 record of its writer is' : `${count} records of its writer are`
  return `${records} missing before it${after === undefined ? '' : `, after ${after}`}`
}

/** `0/0-12/6c1f…`, separated by commas. */
export function headText(heads: readonly AuditHead[]): string {
  return heads
    .map(({ partition, begin, offset, hash }) => `${partition}/${begin}-${offset}/${hash}`)
    .join(',')
}

const headForm = /^(\d{1,5})\/(?:(\d{1,15})-)?(\d{1,15})\/([0-9a-f]{64})$/

/** A head of an earlier version has no begin. Undefined: the text is no head. */
export function headsIn(text: string): AuditHead[] | undefined {
  const heads = text.split(',').map((one): AuditHead | undefined => {
    const [, partition, begin = 0, offset, hash] = headForm.exec(one) ?? []
    if (hash === undefined) return undefined
    return { partition: Number(partition), begin: Number(begin), offset: Number(offset), hash }
  })
  return heads.every((head) => head !== undefined) ? heads : undefined
}
