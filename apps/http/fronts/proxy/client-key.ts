// The key of a client, in the headers of any API.

import { signerOf } from './aws/signed-requests.ts'

/** `authorization` counts first. */
const keyHeaders = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']

/**
 * `key`: without the word in front. Of a signature it is the id of the key that signed, because each
 * signature differs. Empty: the request has none.
 */
export function clientKey(header: (name: string) => string | undefined): {
  key: string
  isSignature: boolean
} {
  const sent = keyHeaders.map(header).find((text) => text) ?? ''
  const signer = signerOf(sent)
  return { key: signer ?? sent.replace(/^bearer\s+/i, ''), isSignature: signer !== undefined }
}
