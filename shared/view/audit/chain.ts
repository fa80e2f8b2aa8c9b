// Checks the chains of evidence: finds and names changed, missing, moved and added records of a
// partition (shared/contract/audit/link.ts). Pure.
// AUDIT-CHAIN-1. A record is judged by its content's hash, by the record before it in its chain, and by
//     the record that its writer saw last.
// AUDIT-CHAIN-2. No fault names records that the retention deleted, or that this process cannot read.
// AUDIT-CHAIN-3. The end of a partition has no successor. Its head, kept elsewhere, proves it.

import { contentHash, type Evidence, recordHash } from '../../contract/audit/link.ts'
import type { AuditLink } from '../../contract/messages.ts'

export type AuditFault = {
  partition: number
  offset: number
  fault: 'changed' | 'missing' | 'moved' | 'unlinked' | 'truncated'
  text: string
}

/** The newest record of a partition. */
export type AuditHead = { partition: number; offset: number; hash: string }

type LastOfChain = { sequence: number; hash: string; offset: number }

export type PartitionCheck = {
  /** `message` undefined: it cannot be read. In the order of the log. */
  apply(offset: number, message: Evidence | undefined): void
  readonly faults: AuditFault[]
  readonly head: AuditHead | undefined
  readonly counts: { records: number; erased: number; hidden: number }
  /** The fault of a head that was kept elsewhere. Undefined: the record is there. */
  faultOf(head: AuditHead): AuditFault | undefined
}

/** `begin`: the oldest offset of the partition. */
export function checkPartition(partition: number, begin: number): PartitionCheck {
  const faults: AuditFault[] = []
  const counts = { records: 0, erased: 0, hidden: 0 }
  const chains = new Map<string, LastOfChain>()
  const hashes = new Map<string, number>()
  const byOffset = new Map<number, string>()
  const unseen: { offset: number; seen: string; before: number | undefined }[] = []
  let before: number | undefined
  let head: AuditHead | undefined

  /** One of a kind for a record. */
  function report(fault: AuditFault['fault'], offset: number, text: string): void {
    if (faults.some((one) => one.offset === offset && one.fault === fault)) return
    faults.push({ partition, offset, fault, text })
  }

  /** Keeps AUDIT-CHAIN-2: nothing before these records is missing for sure. */
  const isPartial = () => begin > 0 || counts.hidden > 0

  function checkChain(offset: number, link: AuditLink, hash: string): void {
    const { writer, sequence, previous, seen } = link
    const last = chains.get(writer)
    if (last?.hash === hash) return // sent again
    chains.set(writer, { sequence, hash, offset })
    if (last !== undefined && sequence <= last.sequence)
      return report(
        'moved',
        offset,
        `it comes after a later record of its writer, at ${last.offset}`,
      )
    const next = (last?.sequence ?? 0) + 1
    if (sequence > next && !isPartial())
      return report('missing', offset, missingText(sequence - next, last?.offset))
    if (sequence === next && previous !== (last?.hash ?? ''))
      return report(
        'changed',
        last?.offset ?? offset,
        `the record at ${offset} has another hash of it`,
      )
    if (seen !== '' && !hashes.has(seen)) unseen.push({ offset, seen, before })
  }

  /** Records whose writer saw a record that did not stand before them. */
  function reportUnseen(): void {
    for (const { offset, seen, before } of isPartial() ? [] : unseen.splice(0)) {
      if (hashes.has(seen))
        report(
          'moved',
          offset,
          `its writer saw the record at ${hashes.get(seen)}, which comes later`,
        )
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
      if (message === undefined) {
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
      head = { partition, offset, hash }
    },
    get faults() {
      reportUnseen()
      return faults
    },
    counts,
    get head() {
      return head
    },
    faultOf({ offset, hash }) {
      if (offset < begin || byOffset.get(offset) === hash) return undefined
      const known = byOffset.has(offset)
      return {
        partition,
        offset,
        fault: known ? 'changed' : 'truncated',
        text: known
          ? 'its hash is not the expected one'
          : `it was the newest record when its head was kept, and it is missing${head === undefined ? '' : `: the newest one is at ${head.offset}`}`,
      }
    },
  }
}

function missingText(count: number, after: number | undefined): string {
  const records = count === 1 ? '1 record of its writer is' : `${count} records of its writer are`
  return `${records} missing before it${after === undefined ? '' : `, after ${after}`}`
}

/** `0/12/6c1f…`, separated by commas. */
export function headText(heads: readonly AuditHead[]): string {
  return heads.map(({ partition, offset, hash }) => `${partition}/${offset}/${hash}`).join(',')
}

/** Undefined: the text is no head. */
export function headsIn(text: string): AuditHead[] | undefined {
  const heads = text.split(',').map((one): AuditHead | undefined => {
    const [, partition, offset, hash] = /^(\d{1,5})\/(\d{1,15})\/([0-9a-f]{64})$/.exec(one) ?? []
    if (hash === undefined) return undefined
    return { partition: Number(partition), offset: Number(offset), hash }
  })
  return heads.every((head) => head !== undefined) ? heads : undefined
}
