// The embedded bus keeps the contract, in a file and in memory.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { encryptedBus } from '../../../shared/bus/encryption/encrypted-bus.ts'
import { createEncryption } from '../../../shared/bus/encryption/encryption.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { busContract } from './contract.ts'
import { sealedBus } from './encryption/sealed-bus.ts'

busContract('embedded, in a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bus-'))
  const open = () =>
    openEmbeddedBus({ file: join(folder, 'weir.sqlite'), clock: systemClock, synchronous: 'off' })
  let bus = await open()
  return {
    bus,
    async reopen() {
      await bus.close()
      bus = await open()
      return bus
    },
    async dispose() {
      await bus.close()
      rmSync(folder, { recursive: true })
    },
  }
})

busContract(
  'embedded, with encrypted values',
  async () => {
    const bus = await openEmbeddedBus({ file: ':memory:', clock: systemClock })
    const name = 'k'.repeat(32) // the longest, so sizes fit exactly
    const keys = new Map([['*', [{ name, key: Buffer.alloc(32, 7) }]]])
    return {
      bus: encryptedBus(bus, createEncryption(keys, ''), ''),
      dispose: () => bus.close(),
    }
  },
  { keeps: false },
)

busContract(
  'embedded, with a key of the conversation',
  async () => {
    const bus = await openEmbeddedBus({ file: ':memory:', clock: systemClock })
    return { bus: await sealedBus(bus), dispose: () => bus.close() }
  },
  { keeps: false },
)

busContract(
  'embedded, in memory',
  async () => {
    const bus = await openEmbeddedBus({ file: ':memory:', clock: systemClock })
    return { bus, dispose: () => bus.close() }
  },
  { keeps: false },
)
