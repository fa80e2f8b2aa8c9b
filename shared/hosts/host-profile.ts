// The profile of a host: the facts about an agent program of another maker that Weir needs to guard
// its agents. A profile is data. The code that reads it knows no host by name.

import type { HostRewriting } from './rewriting.ts'

export type HostProfile = {
  name: string
  /** Its name for people. */
  title: string
  /** A request is the host's if it has one of these headers, or this name in `user-agent`. */
  requests: { headers: readonly string[]; userAgent: RegExp | undefined }
  /** Tools whose repeated calls wait for something that runs. */
  pollers: readonly string[]
  /** Undefined: its history has the calls as its model sent them. */
  rewriting?: HostRewriting
}
