import type { HostProfile } from './host-profile.ts'

export const gptme: HostProfile = {
  name: 'gptme',
  title: 'gptme',
  // Its requests are those of its model library, so only its own texts show it.
  requests: { headers: [], userAgent: undefined },
  identity: { session: [], agent: [], turn: [], hasSideRequests: false },
  pollers: [],
  writesAsUser: [/^<system>No tool call detected in last message\./],
}
