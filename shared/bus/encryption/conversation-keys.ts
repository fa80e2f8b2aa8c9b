// The keys of conversations, in the table `conversation-keys`. The key of the tenant encrypts each of
// them there. A deleted key makes the records of its conversation unreadable for everybody.
// No key replaces another one, so two writers may make keys at once. A writer takes
// the oldest fresh one, and a reader finds each by its name.
// A key stands in the table before the first record that it encrypts. So a name that
// the table does not have now is that of a deleted key.
// No readable key is kept: each batch looks the keys up. So a deleted key is gone
// from every process at once.

import { encodeInForce, hasInForce } from '../../codec/codec.ts'
import { messageOf } from '../../codec/message-of.ts'
import type { Bus, StoredRecord } from '../../contract/bus.ts'
import { historyConversation, historyPrefix } from '../../contract/history/history-keys.ts'
import type { ConversationId } from '../../contract/ids.ts'
import { limits } from '../../contract/limits.ts'
import { keyOf } from '../../contract/topology.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { type Encryption, newConversationKey } from './encryption.ts'
import { keyBytes, type TenantKey } from './tenant-keys.ts'

/** A message begins a new key after this time, so `weir keys renew` can delete an older key. */
export const freshMs: Milliseconds = 30 * 24 * 3_600_000

/** Deleted keys that are known without another request. */
const deletedMax = 10_000

type Place = { conversation: ConversationId; partition: number }

export type ConversationKeys = {
  /** The key for records to write. `begins`: makes one if there is none. Undefined: there is none. */
  toWrite(place: Place, begins: boolean): Promise<TenantKey | undefined>
  /**
   * The key of a record that was read. `deleted`: nobody has it any more. A record: this process lacks
   * the tenant's key that encrypts the key, in this record.
   */
  toRead(place: Place, name: string): Promise<TenantKey | 'deleted' | StoredRecord>
}

export function createConversationKeys(
  bus: Pick<Bus, 'list' | 'append' | 'clock'>,
  { currentName, encrypted, decrypted, keyNameIn }: Encryption,
  topic: string,
): ConversationKeys {
  const deleted = new Set<string>()
  const inMaking = new Map<string, Promise<TenantKey>>()
  /** The log may be older than the table. */
  let isMissingUntil = Number.NEGATIVE_INFINITY

  return {
    async toWrite(place, begins) {
      // An older process may run, which does not know the keys.
      if (!hasInForce('conversation-key', 'name')) return undefined
      if (bus.clock.monotonic() < isMissingUntil) return undefined
      try {
        return (await current(place, begins)) ?? (begins ? await begun(place) : undefined)
      } catch (error) {
        if (!(error instanceof WeirError && error.code === 'bus.topic-missing')) throw error
        isMissingUntil = bus.clock.monotonic() + limits.fleetLookMs
        return undefined
      }
    },

    async toRead(place, name) {
      // A record of another conversation can name the key, and its writer may be hostile.
      const id = JSON.stringify([place.partition, place.conversation, name])
      if (deleted.has(id)) return 'deleted'
      const found = (await named(place, name, false)) ?? (await named(place, name, true))
      if (found !== undefined) return opened(found) ?? found
      if (deleted.size >= deletedMax) deleted.clear()
      deleted.add(id)
      return 'deleted'
    },
  }

  /** After a new key of the tenant, and after a month, the next message begins a new key. */
  async function current(place: Place, begins: boolean): Promise<TenantKey | undefined> {
    const name = currentName(place.conversation)
    const keys = (await stored(place, false)).toSorted((a, b) => a.offset - b.offset)
    const now = bus.clock.now()
    const fresh = keys.filter(({ time }) => now - time < freshMs)
    const newest = fresh.filter((record) => keyNameIn(record) === name)
    const others = begins ? [] : [...fresh, ...keys]
    return [...newest, ...others].flatMap((one) => opened(one) ?? [])[0]
  }

  async function begun(place: Place): Promise<TenantKey> {
    const id = JSON.stringify([place.partition, place.conversation])
    const making = inMaking.get(id) ?? made(place)
    inMaking.set(id, making)
    return making.finally(() => inMaking.delete(id))
  }

  async function made({ conversation, partition }: Place): Promise<TenantKey> {
    const key = newConversationKey()
    const message = { type: 'conversation-key', conversation, ...key } as const
    const record = { topic, partition, key: keyOf(message), value: encodeInForce(message) }
    await bus.append([encrypted(record)])
    return key
  }

  async function named(place: Place, name: string, upToNow: boolean) {
    return (await stored(place, upToNow)).find(({ key }) => nameIn(key) === name)
  }

  function stored({ conversation, partition }: Place, upToNow: boolean): Promise<StoredRecord[]> {
    return bus.list({ topic, partition, prefix: historyPrefix(conversation), upToNow })
  }

  /** Undefined: this process cannot decrypt it, or another program wrote it. */
  function opened(record: StoredRecord): TenantKey | undefined {
    if (keyNameIn(record) === undefined) return undefined
    const message = messageOf(decrypted(record, 'leave').value)
    if (message?.type !== 'conversation-key' || keyOf(message) !== record.key) return undefined
    const { name, key } = message
    return key.length === keyBytes ? { name, key: Buffer.from(key) } : undefined
  }
}

function nameIn(key: string): string | undefined {
  return historyConversation(key) === undefined ? undefined : (JSON.parse(key) as string[])[1]
}
