// Codex: commands as hooks, in hooks.json. Its facts were measured with the version in
// test/hosts/RESULTS.md.

import { join } from 'node:path'
import { commandEntry, type Host, type HostEvent } from './host.ts'

const events: HostEvent[] = [
  { event: 'UserPromptSubmit', kind: 'prompt', failsClosed: true, holds: false },
  { event: 'PreToolUse', kind: 'pre', failsClosed: true, holds: true },
  { event: 'PostToolUse', kind: 'post', failsClosed: false, holds: false },
  { event: 'Stop', kind: 'stop', failsClosed: false, holds: false },
]

export const codex: Host = {
  name: 'codex',
  program: 'codex',
  settingsFile: (scope, { home, folder, environment }) =>
    scope === 'project'
      ? join(folder, '.codex', 'hooks.json')
      : join(environment.CODEX_HOME || join(home, '.codex'), 'hooks.json'),
  group: (command, seconds) => ({ hooks: [{ type: 'command', command, timeout: seconds }] }),
  entries: (url) => events.map((event) => commandEntry(codex, event, url(event.kind))),
  unprotected: () => [
    'Codex runs a new or changed hook only after your review (/hooks in codex). Until then it skips it without a message.',
    'Codex reads the hooks of a project only in a folder that it trusts.',
    'A call that breaks the schema of its tool, and a call of an unknown tool, reach no hook: Weir does not see a loop of them. Run weir proxy next to the hooks.',
    'Text that a call types into a running terminal (write_stdin) reaches no hook.',
    'Hooks show no exit code, no result of patches and of failed tools, no text and no tokens.',
    'A hook cannot end a turn of Codex. Weir denies further calls and gives the model the reason.',
    'A hook that crashes lets its call run. The command denies it if Weir or curl is missing.',
  ],
}
