// A host: an agent program of another maker with hooks that Weir can serve.

import type { HookKind } from '../fronts/hooks/hook-payload.ts'

export type Scope = 'user' | 'project'

/** `home`: the user's folder. `folder`: the current one, the project. */
export type HostPlaces = { home: string; folder: string; environment: NodeJS.ProcessEnv }

/** An entry of the host's settings: the hooks of one of its events. */
export type HookEntry = { event: string; group: unknown }

export type Host = {
  /** As on the command line and in the path of its hooks. */
  name: string
  title: string
  /** The command that starts it. */
  program: string
  settingsFile(scope: Scope, places: HostPlaces): string
  /**
   * `version` is null if it is unknown. Weir then installs hooks that every version can use. `remedy`:
   * for the user without a running Weir. Default: remedyOf.
   */
  entries(url: (kind: HookKind) => string, version: string | null, remedy?: string): HookEntry[]
  /** Facts that no setting of Weir changes, for this version. */
  unprotected(version: string | null): string[]
}

/** An event of a host. `failsClosed`: without Weir it stops the host. `holds`: a person may have to decide. */
export type HostEvent = { event: string; kind: HookKind; failsClosed: boolean; holds: boolean }

/**
 * The time that the host gives a hook. That of one that holds is longer than limits.guestHoldMs: Weir
 * must give up before the host does.
 */
export function timeoutSeconds({ holds }: HostEvent): number {
  return holds ? 610 : 30
}

/**
 * The hooks of a host's plug-in: those of `weir hooks install`, whose hook of a prompt starts a server if
 * none answers. `front`: the address of that server. `weir`: the command of Weir.
 * `uninstall`: that of the host.
 */
export function pluginEntries(
  { name, entries }: Host,
  {
    front,
    weir,
    version,
    uninstall,
  }: { front: string; weir: string; version: string | null; uninstall: string },
): HookEntry[] {
  const urlOf = (kind: HookKind) => `${front}/v1/hooks/${name}/${kind}`
  const command = startingCommand({ url: urlOf('prompt'), weir })
  const remedy = `Start weir proxy, or remove its plug-in with: ${uninstall}`
  return entries(urlOf, version, remedy).map((entry) =>
    entry.event === 'UserPromptSubmit'
      ? { ...entry, group: { hooks: [{ type: 'command', command, timeout: startSeconds }] } }
      : entry,
  )
}

/** npx may have to fetch Weir first. */
const startSeconds = 120

/** A hook that runs a command. `remedy`: as in Host. */
export function commandHook(remedy: string, event: HostEvent, url: string): unknown {
  const seconds = timeoutSeconds(event)
  const { failsClosed } = event
  return {
    type: 'command',
    command: hookCommand({ remedy, url, seconds, failsClosed }),
    timeout: seconds,
  }
}

/** Whether `version` is `since` or newer. Versions are numbers with dots. */
export function isSince(version: string | null, since: string): boolean {
  if (version === null) return false
  const [has, needed] = [version, since].map((text) => text.split('.').map(Number))
  for (const [at, number] of (needed ?? []).entries()) {
    const other = has?.[at] ?? 0
    if (other !== number) return other > number
  }
  return true
}

/** For the user of a host without a running Weir. `host`: its name on the command line. */
export function remedyOf(host: string): string {
  return `Start weir proxy, or remove its hooks with: weir hooks remove ${host}`
}

/**
 * A command for a host that runs commands as hooks. It posts the event and prints the answer. If
 * Weir does not answer, exit code 2 denies the call. Any other code lets it run, and so does a time
 * limit of the host. curl starts in a tenth of the time of Node.js. The host's review shows the
 * whole command, which names no path of an installation.
 */
export function hookCommand({
  remedy,
  url,
  seconds,
  failsClosed,
}: {
  remedy: string
  url: string
  seconds: number
  failsClosed: boolean
}): string {
  const post = `${postCommand(url, seconds - 5)} -S`
  return failsClosed
    ? `${post} || { echo 'Weir does not answer, so this was stopped. ${remedy}' >&2; exit 2; }`
    : post
}

/**
 * As hookCommand of an event that fails closed, for a plug-in: if nothing answers, it starts a server
 * (`weir hooks start`) and posts again. WEIR_COMMAND in the user's environment names another Weir.
 */
function startingCommand({ url, weir }: { url: string; weir: string }): string {
  const { origin } = new URL(url)
  const start = `\${WEIR_COMMAND:-${weir}} hooks start --url ${origin}`
  const post = `post() { printf %s "$event" | ${postCommand(url, 25)} -S; }`
  const denial = `{ echo 'Weir did not start, so this was stopped. Its reason is above.' >&2; exit 2; }`
  return `event=$(cat); ${post}; post 2>/dev/null || { ${start} >&2 && post; } || ${denial}`
}

/** Posts its input and prints the answer. Its exit code is that of curl, which reports no error. */
export function postCommand(url: string, secondsMax: number): string {
  return `curl -q -s --fail --noproxy '*' --max-time ${secondsMax} -H 'content-type: application/json' --data-binary @- '${url}'`
}
