import type { HostProfile } from './host-profile.ts'

export const claudeCode: HostProfile = {
  name: 'claude-code',
  title: 'Claude Code',
  requests: { headers: ['x-claude-code-session-id'], userAgent: /^claude-(?:cli|code)\// },
  pollers: ['BashOutput', 'TaskOutput', 'AgentOutputTool'],
}
