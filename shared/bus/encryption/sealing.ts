// Encrypts and decrypts batches of records with the keys of their conversations, otherwise with those of
// their tenants.
// Only a message of a client or a front begins a key. So a stage that ends late begins none for
// a conversation that was deleted.
// The readable form of a conversation's key leaves this folder in no record.
// Evidence whose key was deleted still reads, without its content. So its chain stays whole.

import { encryptedByte } from '../../codec/codec.ts'
import type { Bus, HiddenRecords, RecordToAppend } from '../../contract/bus.ts'
import type { ConversationId } from '../../contract/ids.ts'
import { tenantOf } from '../../contract/tenant.ts'
import { nameWithoutPrefix, stages } from '../../contract/topology.ts'
import { createConversationKeys } from './conversation-keys.ts'
import { conversationIn, type Encryption } from './encryption.ts'
import { envelopeIn, envelopeOf } from './evidence-envelope.ts'
import type { TenantKey } from './tenant-keys.ts'

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
  bus: Pick<Bus, 'list' | 'append' | 'clock' | 'recordBytesMax'>,
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
  const isEvidence = ({ topic }: RecordToAppend) => topic === `${topicPrefix}audit`

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
        const conversation = conversationOf(record) || undefined
        const place = `${record.topic}/${record.partition}/${conversation}`
        const key = conversation && (await keyFor(place, conversation, record))
        all.push(key && isEvidence(record) ? sealedEvidence(record, key, seal) : seal(record, key))
      }
      return all
    },

    /** A promise only if a key of a conversation encrypts one of them. */
    opened<One extends RecordToAppend>(
      records: One[],
      opening: Opening<One>,
    ): One[] | Promise<One[]> {
      const isOwn = (record: One) => conversationKeyIn(record) !== undefined
      return records.some((record) => isOwn(record) || isEvidence(record))
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
        const readable = openedByTenant(record, opening)
        all.push(isEvidence(record) ? await openedEvidence(readable) : readable)
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

  /** The key of the tenant alone encrypts a record that leaves no room for an envelope. */
  function sealedEvidence<One extends RecordToAppend>(
    record: One,
    key: TenantKey,
    seal: Seal,
  ): One {
    const whole = encrypted(record, key).value
    const envelope = record.value && whole && envelopeOf(record.value, whole)
    if (!envelope) return seal(record)
    const sealed = seal({ ...record, value: envelope })
    return (sealed.value?.length ?? 0) > bus.recordBytesMax ? seal(record) : sealed
  }

  async function openedEvidence<One extends RecordToAppend>(record: One): Promise<One> {
    const envelope = envelopeIn(record.value)
    if (envelope === undefined) return record
    const whole = { ...record, value: envelope.whole }
    const name = conversationKeyIn(whole)
    const place = { conversation: record.key, partition: record.partition }
    const key = name === undefined ? 'deleted' : await keys.toRead(place, name)
    if (key === 'deleted' || 'offset' in key) return { ...record, value: envelope.outline }
    return { ...decrypted(whole, 'leave', key), conversationKey: 'present' }
  }

  function openedByTenant<One extends RecordToAppend>(
    record: One,
    { missing, see, includesKeys }: Opening<One>,
  ): One {
    if (record.topic === keysTopic && !includesKeys) return record
    const readable = decrypted(record, missing)
    if (see !== undefined && isHidden(readable)) see(readable, hiddenBy(readable))
    return readable
  }

  function bare(topic: string): string {
    return nameWithoutPrefix(topic, topicPrefix) ?? topic
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
