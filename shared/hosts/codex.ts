import type { HostProfile } from './host-profile.ts'

const metadata = 'x-codex-turn-metadata'

export const codex: HostProfile = {
  name: 'codex',
  title: 'Codex',
  requests: { headers: [metadata, 'x-codex-window-id'], userAgent: /^codex/ },
  identity: {
    session: [{ header: metadata, member: 'session_id' }, { header: 'session-id' }],
    // A main agent's thread has the id of its session. `agent_name` is `/root` for each sub-agent.
    agent: [{ header: metadata, member: 'thread_id' }, { header: 'thread-id' }],
    turn: [{ header: metadata, member: 'turn_id' }],
    hasSideRequests: false,
  },
  pollers: ['write_stdin', 'wait'],
  hookCalls: [
    { tool: 'exec_command', member: 'cmd', as: { tool: 'Bash', member: 'command' } },
    { tool: 'apply_patch', member: undefined, as: { tool: 'apply_patch', member: 'command' } },
  ],
}
