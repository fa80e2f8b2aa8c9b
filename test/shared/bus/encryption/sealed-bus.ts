// A bus for the contract of buses, on which a key of a conversation encrypts the records of partition 0, and
// the key of the tenant those of other partitions.

import { encryptedBus } from '../../../../shared/bus/encryption/encrypted-bus.ts'
import { createEncryption } from '../../../../shared/bus/encryption/encryption.ts'
import type { Bus } from '../../../../shared/contract/bus.ts'
import { topicSpecs } from '../../../../shared/contract/retention.ts'
import { newName, record } from '../contract-world.ts'

const partitions = 4

export async function sealedBus(raw: Bus): Promise<Bus> {
  const prefix = `${newName('sealed')}.`
  const name = 'k'.repeat(32) // the longest, so sizes fit exactly
  const keys = new Map([['*', [{ name, key: Buffer.alloc(32, 7) }]]])
  const bus = encryptedBus(raw, createEncryption(keys, prefix), prefix)
  const needed = [`${prefix}client-messages`, `${prefix}conversation-keys`]
  await raw.ensureTopics(
    topicSpecs(prefix, partitions).filter((spec) => needed.includes(spec.name)),
  )
  await bus.append([record(`${prefix}client-messages`, 'the first message')])
  const table = { topic: `${prefix}conversation-keys`, partition: 0, prefix: '' }
  if ((await raw.list(table)).length !== 1) throw new Error('the conversation has no key')
  return bus
}
