import type { HostProfile } from './host-profile.ts'

export const openHands: HostProfile = {
  name: 'openhands',
  title: 'OpenHands',
  // Its requests are those of its model library, so only the body of `/v1/guest` can name it.
  requests: { headers: [], userAgent: undefined },
  identity: { session: [], agent: [], turn: [], hasSideRequests: false },
  // Its tool `terminal` looks with an empty command, which waits in any host.
  pollers: [],
}
