import type { HostProfile } from './host-profile.ts'

export const cline: HostProfile = {
  name: 'cline',
  title: 'Cline',
  // Its requests are those of its model library, so only its own texts show it.
  requests: { headers: [], userAgent: undefined },
  identity: { session: [], agent: [], turn: [], hasSideRequests: false },
  pollers: [],
  writesAsUser: [/^\[SYSTEM\] This run is not complete until you call one of these terminal /],
}
