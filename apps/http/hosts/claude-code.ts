// Claude Code: hooks in settings.json. It reads strict JSON: a comment turns off all hooks of the
// file without a message. Its facts were measured with the version in test/hosts/RESULTS.md.

import { join } from 'node:path'
import {
  commandEntry,
  type HookEntry,
  type Host,
  type HostEvent,
  isSince,
  postFunction,
  remedyOf,
} from './host.ts'

/** The oldest version that is known to have PostToolBatch. */
export const batchSince = '2.1.152'

/** Without Weir no prompt, no call and no next request goes on. Results need no answer. */
const events: HostEvent[] = [
  { event: 'UserPromptSubmit', kind: 'prompt', failsClosed: true, holds: false },
  { event: 'PreToolUse', kind: 'pre', failsClosed: true, holds: true },
  { event: 'PostToolUse', kind: 'post', failsClosed: false, holds: false },
  { event: 'PostToolUseFailure', kind: 'post', failsClosed: false, holds: false },
  { event: 'PostToolBatch', kind: 'batch', failsClosed: true, holds: false },
  { event: 'Stop', kind: 'stop', failsClosed: false, holds: false },
  { event: 'SubagentStop', kind: 'stop', failsClosed: false, holds: false },
  { event: 'SessionEnd', kind: 'end', failsClosed: false, holds: false },
]

const name = 'claude-code'

export const claudeCode: Host = {
  name,
  program: 'claude',
  // Not settings.json of the project: others share that file, and have no Weir on this port.
  settingsFile: (scope, { home, folder, environment }) =>
    scope === 'project'
      ? join(folder, '.claude', 'settings.local.json')
      : join(environment.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json'),
  group: (command, timeout) => groupOf({ type: 'command', command, timeout }),
  entries: (url, version) =>
    events
      .filter(({ kind }) => kind !== 'batch' || isSince(version, batchSince))
      .map((event) => entryOf(event, url(event.kind))),
  unprotected: (version) => [
    'A call that breaks the schema of its tool reaches no hook before Claude Code refuses it itself. Weir sees it with the batch of its message.',
    'Hooks see no text, no thinking and no tokens: rules about them are off. Run weir proxy next to the hooks for these.',
    'Calls of one message that Claude Code runs one after the other count as one round each.',
    'claude --bare and claude --safe-mode skip all hooks.',
    ...(isSince(version, batchSince)
      ? []
      : [
          `Before version ${batchSince} no hook shows a whole message: Weir never sees a call that breaks the schema of its tool, and cannot end a turn.`,
        ]),
  ],
}

const groupOf = (hook: unknown) => ({ matcher: '*', hooks: [hook] })

/** Commands: an HTTP hook lets a call run after an empty answer of any server. */
function entryOf(event: HostEvent, url: string): HookEntry {
  const { kind } = event
  if (kind !== 'end') return commandEntry(claudeCode, event, url)
  return {
    event: event.event,
    kind,
    group: groupOf({ type: 'command', command: noticeCommand(url) }),
  }
}

/**
 * Claude Code shows no text of a hook to the user of `claude -p`, with this exception: the error
 * output of a command that fails at the end of the session. 7: Weir refuses the connection.
 */
export function noticeCommand(url: string): string {
  const missing = `Weir does not answer, so no call could run. ${remedyOf(name)}`
  return `${postFunction(url, 1)}; t=$(post 2>/dev/null) || { [ $? != 7 ] || t='${missing}'; }; [ -z "$t" ] || { printf '%s\\n' "$t" >&2; exit 1; }`
}
