// Keys of loops: short texts that are equal where calls, errors or results are the same for us, whatever their size.

import { hash } from 'node:crypto'

/** What is shorter is its own key: hashing it would take longer than comparing it. */
const plainCharsMax = 64

/** The parts cannot run into each other. 132 bits of sha-256 are enough even against somebody who looks for two equal ones. */
export function fingerprint(...parts: string[]): string {
  const text = JSON.stringify(parts)
  return text.length <= plainCharsMax ? text : hash('sha256', text, 'base64url').slice(0, 22)
}
