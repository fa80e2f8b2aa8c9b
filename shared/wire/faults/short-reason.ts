// Reasons from providers, short enough for a record. The text comes from outside: it is bounded
// (R7), has one line without terminal sequences, and never contains the key, which some servers
// quote.

import { limits } from '../../contract/limits.ts'
import { secretMask } from '../../lib/log/secret-mask.ts'
import { onOneLine, shortened } from '../../lib/text-cut.ts'

/** The key of a model, or all values that its provider knows and no record may contain. */
export type Secret = string | readonly string[]

/** Removes the secrets and line breaks and truncates to `limits.reasonBytesMax` bytes. */
export function shortReason(reason: string, secret: Secret = ''): string {
  const secrets = typeof secret === 'string' ? [secret] : secret
  const shareable = secrets.some((one) => one !== '')
    ? secretMask(secrets, '[key]')(reason)
    : reason
  return shortened(onOneLine(shareable), limits.reasonBytesMax)
}
