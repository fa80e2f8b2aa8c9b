// Reasons from providers, short enough for a record. The text comes from outside: it is bounded
// (R7), has one line without terminal sequences, and never contains the key, which some servers
// quote.

import { limits } from '../../../shared/contract/limits.ts'
import { onOneLine, shortened } from '../../../shared/lib/text-cut.ts'

/** Removes the secret and line breaks and truncates to `limits.reasonBytesMax` bytes. */
export function shortReason(reason: string, secret = ''): string {
  const shareable = secret === '' ? reason : reason.replaceAll(secret, '[key]')
  return shortened(onOneLine(shareable), limits.reasonBytesMax)
}
