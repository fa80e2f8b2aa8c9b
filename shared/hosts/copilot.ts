import type { HostProfile } from './host-profile.ts'

export const copilot: HostProfile = {
  name: 'copilot',
  title: 'Copilot CLI',
  requests: { headers: ['x-initiator', 'x-interaction-type'], userAgent: undefined },
  // With a provider of the user it sends no id, and one prompt_cache_key for all sub-agents.
  identity: { session: [], agent: [], turn: [], hasSideRequests: false },
  pollers: ['read_bash', 'read_powershell'],
}
