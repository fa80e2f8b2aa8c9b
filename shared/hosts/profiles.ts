// The profiles of the hosts. The first that fits a request counts: OpenCode may send the headers of Copilot
// too.

import type { HostProfile } from './host-profile.ts'

const codexMetadata = 'x-codex-turn-metadata'

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
  starts: {
    tools: ['Agent', 'Task'],
    child: 'agentId',
    over: { member: 'status', value: 'completed' },
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

/**
 * Of a host whose requests are those of its model library. The body, the hooks or the texts name
 * the host.
 */
const withoutRequests = {
  requests: { headers: [], userAgent: undefined },
  identity: { session: [], agent: [], turn: [], hasSideRequests: false },
  pollers: [],
} as const

export const hostProfiles: readonly HostProfile[] = [
  claudeCode,
  {
    name: 'codex',
    title: 'Codex',
    requests: { headers: [codexMetadata, 'x-codex-window-id'], userAgent: /^codex/ },
    identity: {
      session: [{ header: codexMetadata, member: 'session_id' }, { header: 'session-id' }],
      // A main agent's thread has the id of its session. `agent_name` is `/root` for each sub-agent.
      agent: [{ header: codexMetadata, member: 'thread_id' }, { header: 'thread-id' }],
      turn: [{ header: codexMetadata, member: 'turn_id' }],
      hasSideRequests: false,
    },
    starts: {
      tools: ['spawn_agent', 'multi_agent_v1.spawn_agent', 'multi_agent_v1spawn_agent'],
      child: 'agent_id',
      reports: [
        'wait_agent',
        'multi_agent_v1wait_agent',
        'close_agent',
        'multi_agent_v1close_agent',
      ],
    },
    pollers: ['write_stdin', 'wait'],
    hookCalls: [
      { tool: 'exec_command', member: 'cmd', as: { tool: 'Bash', member: 'command' } },
      { tool: 'apply_patch', member: undefined, as: { tool: 'apply_patch', member: 'command' } },
    ],
  },
  {
    name: 'opencode',
    title: 'OpenCode',
    requests: { headers: ['x-opencode-session'], userAgent: /^opencode\// },
    identity: {
      session: [{ header: 'x-session-id' }, { header: 'x-opencode-session' }],
      agent: [], // a sub-agent is a session
      turn: [],
      parent: [{ header: 'x-parent-session-id' }],
      hasSideRequests: false,
    },
    starts: { tools: ['task'] },
    pollers: [],
  },
  {
    name: 'openhands',
    title: 'OpenHands',
    ...withoutRequests,
  },
  {
    name: 'gemini-cli',
    title: 'Gemini CLI',
    requests: { headers: [], userAgent: /^GeminiCLI/ },
    identity: { session: [], agent: [], turn: [], hasSideRequests: false },
    pollers: ['read_background_output', 'list_background_processes'],
  },
  {
    name: 'cline',
    title: 'Cline',
    ...withoutRequests,
    writesAsUser: [
      /^(\[SYSTEM\] This run is not complete until|<hook_context source="PostToolUse") /,
    ],
  },
  {
    name: 'gptme',
    title: 'gptme',
    ...withoutRequests,
    writesAsUser: [/^<system>No tool call detected in last message\./],
  },
  { name: 'pi', title: 'Pi', ...withoutRequests },
  { name: 'openclaw', title: 'OpenClaw', ...withoutRequests },
  { name: 'hermes', title: 'Hermes', ...withoutRequests },
  {
    name: 'copilot',
    title: 'Copilot CLI',
    requests: { headers: ['x-initiator', 'x-interaction-type'], userAgent: undefined },
    // With a provider of the user it sends no id, and one prompt_cache_key for all sub-agents.
    identity: { session: [], agent: [], turn: [], hasSideRequests: false },
    pollers: ['read_bash', 'read_powershell'],
  },
]
