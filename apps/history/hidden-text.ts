// The text about records that a reader could not decrypt: the tenant, the number, and the remedy.

import type { HiddenRecords } from '../../shared/contract/bus.ts'
import { count as counted } from '../terminal/text/quantities.ts'

/** Nobody can read these records any more, so no key is missing. */
export function isGone({ reason }: Pick<HiddenRecords, 'reason'>): boolean {
  return reason === 'deleted' || reason === 'forgotten'
}

export function hiddenText({ tenant, name, reason, hasOthers, count }: HiddenRecords): string {
  const records = `${counted(count, 'record')} of the tenant ${tenant}`
  switch (reason) {
    case 'deleted':
      return `${records} cannot be read any more, because the keys of ${tenant} were deleted: their content is gone, and the rest is complete`
    case 'forgotten':
      return `${records} cannot be read any more, because their conversations were deleted (weir forget): their content is gone, and the rest is complete`
    case 'unfit':
      return name === ''
        ? `${records} cannot be read: the encrypted bytes are damaged`
        : `${records} cannot be read: the key ${name} does not fit. Another key has that name in the file of keys, or the records are damaged or copied from another place`
    case 'missing':
      return `${records} cannot be read: ${missingText(name, tenant, hasOthers)} (--encryption-keys, WEIR_ENCRYPTION_KEYS)`
    default:
      return reason satisfies never
  }
}

function missingText(name: string, tenant: string, hasOthers: boolean): string {
  return hasOthers
    ? `the keys for ${tenant} lack ${name}, which encrypted them. Add that key after the newer keys, from an older copy of the file`
    : `this command has no key for ${tenant}. Give it the file with the key ${name}`
}
