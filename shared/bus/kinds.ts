// The list of buses. The type covers the names in shared/settings/settings.ts: a name without a
// record does not compile.

import type { Bus } from '../contract/bus.ts'
import { type BusName, busNames } from '../settings/settings.ts'
import { embeddedKind } from './embedded/kind.ts'
import { encryptedBus } from './encryption/encrypted-bus.ts'
import { createEncryption } from './encryption/encryption.ts'
import { readTenantKeys } from './encryption/tenant-keys.ts'
import { kafkaKind } from './kafka/kind.ts'
import type { BusKind, BusSettings, LocalBus } from './kind.ts'

const busKinds: Record<BusName, BusKind> = {
  embedded: encryptedKind({
    ...embeddedKind,
    openBesideWriter: async (settings, log) => {
      const encrypt = encryptionOf(settings)
      const bus = await embeddedKind.openBesideWriter(settings, log)
      return bus && encrypt(bus)
    },
    openLinked: async (settings, ...more) =>
      encryptionOf(settings)(await embeddedKind.openLinked(settings, ...more)),
  } satisfies LocalBus),
  kafka: encryptedKind(kafkaKind),
}

/** Outside of everything else that a bus does, so values are encrypted wherever they go. */
function encryptedKind<Kind extends BusKind>(kind: Kind): Kind {
  const { open, openReadOnly, openBeside } = kind
  return {
    ...kind,
    open: async (settings, options) => encryptionOf(settings)(await open(settings, options)),
    openReadOnly: async (settings, options) =>
      encryptionOf(settings)(await openReadOnly(settings, options)),
    openBeside: async (settings, options) =>
      encryptionOf(settings)(await openBeside(settings, options)),
  }
}

/**
 * Without keys too: a stage must not go on without the keys of its records. Throws before the bus
 * opens if the keys cannot be used.
 */
function encryptionOf({
  encryptionKeys: file,
  encryptionCommand: command,
  topicPrefix,
}: BusSettings): (bus: Bus) => Bus {
  const encryption = createEncryption(readTenantKeys({ file, command }), topicPrefix)
  return (bus) => encryptedBus(bus, encryption)
}

export function busKindOf({ bus }: { bus: BusName }): BusKind {
  return busKinds[bus]
}

/** The names of the buses that can do something, for messages. */
export function busNamesWhere(can: (kind: BusKind) => boolean): BusName[] {
  return busNames.filter((name) => can(busKinds[name]))
}
