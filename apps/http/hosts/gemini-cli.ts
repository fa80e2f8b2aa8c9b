// Gemini CLI: commands as hooks, in settings.json. Its facts were measured with the version in
// test/hosts/RESULTS.md.

import { join } from 'node:path'
import { commandEntry, type Host, type HostEvent } from './host.ts'

const events: HostEvent[] = [
  { event: 'BeforeAgent', kind: 'prompt', failsClosed: true, holds: false },
  { event: 'BeforeTool', kind: 'pre', failsClosed: true, holds: true },
  { event: 'AfterTool', kind: 'post', failsClosed: false, holds: false },
  { event: 'AfterAgent', kind: 'stop', failsClosed: false, holds: false },
]

export const geminiCli: Host = {
  name: 'gemini-cli',
  program: 'gemini',
  settingsFile: (scope, { home, folder, environment }) =>
    join(
      scope === 'project' ? folder : environment.GEMINI_CLI_HOME || home,
      '.gemini',
      'settings.json',
    ),
  // Its timeouts are in milliseconds.
  group: (command, seconds) => ({
    matcher: '*',
    hooks: [{ type: 'command', command, timeout: seconds * 1000 }],
  }),
  entries: (url) => events.map((event) => commandEntry(geminiCli, event, url(event.kind))),
  unprotected: () => [
    'Gemini CLI reads the hooks of a project only in a folder that it trusts.',
    'A call that breaks the schema of its tool, and a call of an unknown tool, reach no hook: Weir does not see a loop of them. Run weir proxy next to the hooks.',
    'Hooks name no sub-agent: its calls count as those of its session.',
    'Hooks show no text, no thinking and no tokens: rules about them are off.',
    'A hook that crashes lets its call run. The command denies it if Weir or curl is missing.',
  ],
}
