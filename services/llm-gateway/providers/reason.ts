// Short reasons: what went wrong at the provider, in a few words that may stand in a record. Their
// text comes from outside, so it is bounded (R7), is one line without anything that a terminal
// would obey, and must not carry the key back to us: some servers quote it when they refuse it.

import { limits } from '../../../shared/contract/limits.ts'
import { onOneLine, shortened } from '../../../shared/lib/text-cut.ts'

/** The reason without the secret, as one line, cut to `limits.reasonBytesMax` bytes. */
export function shortReason(reason: string, secret = ''): string {
  const shareable = secret === '' ? reason : reason.replaceAll(secret, '[key]')
  return shortened(onOneLine(shareable), limits.reasonBytesMax)
}
