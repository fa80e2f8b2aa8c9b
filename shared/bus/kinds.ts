// The list of buses. The type covers the names in shared/settings/settings.ts: a name without a
// record does not compile.
// This folder has the logs and their wrappers, a folder each. Not here: the meaning of a record
// (shared/contract), and reducers.

import { type BusName, busNames } from '../settings/settings.ts'
import { embeddedKind } from './embedded/kind.ts'
import { encryptedKind, encryptedLocalKind } from './encryption/encrypted-kind.ts'
import { kafkaKind } from './kafka/kind.ts'
import type { BusKind } from './kind.ts'

const busKinds: Record<BusName, BusKind> = {
  embedded: encryptedLocalKind(embeddedKind),
  kafka: encryptedKind(kafkaKind),
}

export function busKindOf({ bus }: { bus: BusName }): BusKind {
  return busKinds[bus]
}

/** The names of the buses that can do something, for messages. */
export function busNamesWhere(can: (kind: BusKind) => boolean): BusName[] {
  return busNames.filter((name) => can(busKinds[name]))
}
