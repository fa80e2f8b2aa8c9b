import type { HostProfile } from './host-profile.ts'

export const claudeCode: HostProfile = {
  name: 'claude-code',
  title: 'Claude Code',
  requests: { headers: ['x-claude-code-session-id'], userAgent: /^claude-(?:cli|code)\// },
  identity: {
    session: [{ header: 'x-claude-code-session-id' }],
    agent: [{ header: 'x-claude-code-agent-id' }],
    turn: [],
    hasSideRequests: true,
  },
  pollers: ['BashOutput', 'TaskOutput', 'AgentOutputTool'],
}
