// Copilot CLI: commands as hooks, in a file that only Weir writes. Its facts were measured with the version
// in test/hosts/RESULTS.md.

import { join } from 'node:path'
import { commandEntry, type Host, type HostEvent } from './host.ts'

// With these names of events it sends the payloads of Claude Code, without ids of calls.
const events: HostEvent[] = [
  { event: 'UserPromptSubmit', kind: 'prompt', failsClosed: true, holds: false },
  { event: 'PreToolUse', kind: 'pre', failsClosed: true, holds: true },
  { event: 'PostToolUse', kind: 'post', failsClosed: false, holds: false },
  { event: 'PostToolUseFailure', kind: 'post', failsClosed: false, holds: false },
  { event: 'Stop', kind: 'stop', failsClosed: false, holds: false },
]

export const copilot: Host = {
  name: 'copilot',
  program: 'copilot',
  settingsFile: (scope, { home, folder, environment }) =>
    scope === 'project'
      ? join(folder, '.github', 'hooks', 'weir.json')
      : join(environment.COPILOT_HOME || join(home, '.copilot'), 'hooks', 'weir.json'),
  group: (command, seconds) => ({
    matcher: '*',
    hooks: [{ type: 'command', command, timeout: seconds }],
  }),
  entries: (url) => events.map((event) => commandEntry(copilot, event, url(event.kind))),
  unprotected: () => [
    'Copilot CLI reads the hooks of a project only in a folder that it trusts.',
    'A hook cannot end a turn of Copilot CLI. Weir denies further calls and gives the model the reason.',
    'Hooks show no text, no thinking and no tokens: rules about them are off.',
    'A time limit of Copilot CLI lets a call run. The command gives up earlier, and denies the call.',
  ],
}
