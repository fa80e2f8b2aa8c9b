// The author of a decision that names none: the user of this process.

import { userInfo } from 'node:os'

export function personHere(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown' // a container's user may have no name
  }
}
