// A kind of bus whose buses encrypt, outside of everything else that they do. So values are encrypted
// wherever they go. Only the links of evidence are made before, over readable values.

import type { Bus } from '../../contract/bus.ts'
import { linkedBus } from '../audit/linked-bus.ts'
import type { OutsideValues } from '../embedded/beside/outside-requests.ts'
import type { BusKind, BusSettings, LocalBus, OpenOptions } from '../kind.ts'
import { encryptedBus } from './encrypted-bus.ts'
import { createEncryption, type Encryption } from './encryption.ts'
import { createOrder, createSealing } from './sealing.ts'
import { readTenantKeys, type TenantKeys } from './tenant-keys.ts'

export function encryptedKind<Kind extends BusKind>(kind: Kind): Kind {
  const { open, openReadOnly, openBeside } = kind
  return {
    ...kind,
    open: (settings, options) =>
      opened(settings, (values) => open(settings, { ...options, values })),
    openReadOnly: (settings, options) => opened(settings, () => openReadOnly(settings, options)),
    openBeside: (settings, options) =>
      opened(settings, (values) => openBeside(settings, { ...options, values })),
  }
}

export function encryptedLocalKind(kind: LocalBus): LocalBus {
  const { openBesideWriter, openLinked } = kind
  return {
    ...encryptedKind(kind),
    openBesideWriter: (settings, log) => opened(settings, () => openBesideWriter(settings, log)),
    openLinked: (settings, ...more) => opened(settings, () => openLinked(settings, ...more)),
  }
}

/**
 * Without keys too: a stage must not continue without the keys of its records. Throws before the bus
 * opens if the keys cannot be used.
 */
async function opened<Opened extends Bus | undefined>(
  settings: BusSettings,
  open: (values: OpenOptions['values']) => Promise<Opened>,
): Promise<Opened | Bus> {
  const encryption = createEncryption(await keysOf(settings), settings.topicPrefix)
  const { topicPrefix } = settings
  const bus = await open((owner) => outsideValues(owner, encryption, topicPrefix))
  if (bus === undefined) return bus
  return linkedBus(encryptedBus(bus, encryption, topicPrefix), topicPrefix)
}

/** In the order of the requests. */
function outsideValues(bus: Bus, encryption: Encryption, topicPrefix: string): OutsideValues {
  const sealing = createSealing(bus, encryption, topicPrefix)
  const inOrder = createOrder()
  const seal = encryption.encryptedForOthers
  return {
    encryptedForOthers: (records) =>
      inOrder(() => sealing.sealed(records, { begins: false, seal })),
    decrypted: (records) =>
      inOrder(async () => sealing.opened(records, { missing: 'throw', includesKeys: true })),
  }
}

export async function keysOf({
  encryptionKeys,
  encryptionCommand,
}: Pick<BusSettings, 'encryptionKeys' | 'encryptionCommand'>): Promise<TenantKeys> {
  if (encryptionKeys !== '') return readTenantKeys(encryptionKeys)
  if (encryptionCommand === '') return new Map()
  const { tenantKeysOf } = await import('./key-command.ts')
  return tenantKeysOf(encryptionCommand)
}
