import type { HostProfile } from './host-profile.ts'

export const openCode: HostProfile = {
  name: 'opencode',
  title: 'OpenCode',
  requests: { headers: ['x-opencode-session'], userAgent: /^opencode\// },
  identity: {
    // A sub-agent is a session. `x-parent-session-id` names the session that started it.
    session: [{ header: 'x-session-id' }, { header: 'x-opencode-session' }],
    agent: [],
    turn: [],
    hasSideRequests: false,
  },
  pollers: [],
}
