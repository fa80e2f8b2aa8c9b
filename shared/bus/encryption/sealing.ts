// Encrypts and decrypts batches of records with the keys of their conversations, otherwise with those of
// their tenants.
// SEALING-1. Only a message of a client or a front begins a key. So a stage that ends late begins none for
//     a conversation that was deleted.
// SEALING-2. The readable form of a conversation's key leaves this folder in no record.

import { encryptedByte } from '../../codec/codec.ts'
import type { Bus, HiddenRecords, RecordToAppend } from '../../contract/bus.ts'
import type { ConversationId } from '../../contract/ids.ts'
import { tenantOf } from '../../contract/tenant.ts'
import { stages } from '../../contract/topology.ts'
import { createConversationKeys } from './conversation-keys.ts'
import { conversationIn, type Encryption } from './encryption.ts'

type Hidden = Omit<HiddenRecords, 'count'>
export type Opening<One> = {
  missing: 'leave' | 'throw'
  /** Gets each record that stays encrypted. */
  see?: ((record: One, hidden: Hidden) => void) | undefined
  /** Opens also keys, for a check of their content. */
  includesKeys?: true
}

/** Keeps the order of works that wait. */
export type InOrder = <T>(work: () => Promise<T>) => Promise<T>

export function createOrder(): InOrder {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const own = last.then(work)
    last = own.catch(() => {})
    return own
  }
}

export function createSealing(
  bus: Pick<Bus, 'list' | 'append' | 'clock'>,
  encryption: Encryption,
  topicPrefix: string,
) {
  const { conversationOf, encrypted, decrypted, conversationKeyIn, hiddenBy } = encryption
  const keysTopic = `${topicPrefix}conversation-keys`
  const keys = createConversationKeys(bus, encryption, keysTopic)
  const beginning: ReadonlySet<string> = new Set(
    [stages.intake, stages.guest].map(({ inbox }) => topicPrefix + inbox),
  )
  type Seal = Encryption['encrypted']

  return {
    /** `begins`: the records come from outside of the stages, so a key may begin. */
    async sealed<One extends RecordToAppend>(
      records: readonly One[],
      { begins, seal = encrypted }: { begins: boolean; seal?: Seal },
    ): Promise<One[]> {
      const keyFor = perBatch((conversation: ConversationId, record: One) =>
        keys.toWrite(
          { conversation, partition: record.partition },
          begins && beginning.has(record.topic),
        ),
      )
      const all: One[] = []
      for (const record of records) {
        const conversation = conversationOf(record)
        const place = `${record.topic}/${record.partition}/${conversation}`
        const key = conversation && (await keyFor(place, conversation, record))
        all.push(seal(record, key || undefined))
      }
      return all
    },

    /** A promise only if a key of a conversation encrypts one of them. */
    opened<One extends RecordToAppend>(
      records: One[],
      opening: Opening<One>,
    ): One[] | Promise<One[]> {
      const isOwn = (record: One) => conversationKeyIn(record) !== undefined
      return records.some(isOwn)
        ? allOpened(records, opening)
        : records.map((record) => openedByTenant(record, opening))
    },
  }

  async function allOpened<One extends RecordToAppend>(
    records: One[],
    opening: Opening<One>,
  ): Promise<One[]> {
    const keyFor = perBatch((name: string, { topic, partition, key }: One) =>
      keys.toRead({ conversation: conversationIn(bare(topic), key) ?? key, partition }, name),
    )
    const all: One[] = []
    for (const record of records) {
      const name = conversationKeyIn(record)
      if (name === undefined) {
        all.push(openedByTenant(record, opening))
        continue
      }
      const found = await keyFor(`${record.partition}/${record.key}/${name}`, name, record)
      if (found === 'deleted') {
        const tenant = tenantOf(conversationIn(bare(record.topic), record.key) ?? record.key)
        opening.see?.(record, { tenant, name: '', reason: 'forgotten', hasOthers: true })
        all.push({ ...record, conversationKey: found })
      } else if ('offset' in found) {
        decrypted(found, opening.missing)
        opening.see?.(record, hiddenBy(found))
        all.push(record)
      } else {
        const readable = decrypted(record, 'leave', found)
        if (isHidden(readable)) opening.see?.(record, { ...hiddenBy(record), reason: 'unfit' })
        all.push({ ...readable, conversationKey: 'present' })
      }
    }
    return all
  }

  function openedByTenant<One extends RecordToAppend>(
    record: One,
    { missing, see, includesKeys }: Opening<One>,
  ): One {
    if (record.topic === keysTopic && !includesKeys) return record // keeps SEALING-2
    const readable = decrypted(record, missing)
    if (see !== undefined && isHidden(readable)) see(readable, hiddenBy(readable))
    return readable
  }

  function bare(topic: string): string {
    return topic.slice(topicPrefix.length)
  }
}

function isHidden({ value }: RecordToAppend): boolean {
  return value?.[0] === encryptedByte
}

/** Looks up once in a batch. */
function perBatch<Given extends unknown[], Found>(lookUp: (...given: Given) => Promise<Found>) {
  const found = new Map<string, Promise<Found>>()
  return (place: string, ...given: Given): Promise<Found> => {
    const known = found.get(place) ?? lookUp(...given)
    found.set(place, known)
    return known
  }
}
