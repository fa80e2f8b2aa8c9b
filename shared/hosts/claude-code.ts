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
  rewriting: {
    unread: { member: '__unparsedToolInput', text: 'raw' },
    folder: { tool: 'Bash', member: 'command', named: /\bworking directory: *(\S.*)/i },
    added: [{ tool: 'Edit', member: 'replace_all', value: false }],
    cutLines: [
      { tool: 'Edit', members: ['old_string', 'new_string'] },
      { tool: 'Write', members: ['content'] },
    ],
    readsTexts: true,
  },
}
