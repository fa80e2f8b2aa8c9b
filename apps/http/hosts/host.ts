// A host: an agent program of another maker with hooks that Weir can serve.

import { markHeader, markName, nonceHeader, targetOf } from '../fronts/front-mark.ts'
import type { HookKind } from '../fronts/hooks/hook-payload.ts'

export type Scope = 'user' | 'project'

/** `home`: the user's folder. `folder`: the current one, the project. */
export type HostPlaces = { home: string; folder: string; environment: NodeJS.ProcessEnv }

/** An entry of the host's settings: the hooks of one of its events. */
export type HookEntry = { event: string; kind: HookKind; group: unknown }

export type Host = {
  /** As on the command line and in the path of its hooks. */
  name: string
  /** The command that starts it. */
  program: string
  settingsFile(scope: Scope, places: HostPlaces): string
  /** An entry's group with one command. */
  group(command: string, seconds: number): unknown
  /** `version` is null if it is unknown. Weir then installs hooks that every version can use. */
  entries(url: (kind: HookKind) => string, version: string | null): HookEntry[]
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
 * `uninstall`: that of the host, which the texts name in place of `weir hooks remove`.
 */
export function pluginEntries(
  { name, entries, group }: Host,
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
  return entries(urlOf, version).map((entry) => {
    if (entry.kind === 'prompt') return { ...entry, group: group(command, startSeconds) }
    const text = JSON.stringify(entry.group).replaceAll(remedyOf(name), remedy)
    return { ...entry, group: JSON.parse(text) as unknown }
  })
}

/** npx may have to fetch Weir first. */
const startSeconds = 120

/** The entry of an event whose hook is a command. `url`: of its path. */
export function commandEntry(
  { name, group }: Pick<Host, 'name' | 'group'>,
  event: HostEvent,
  url: string,
): HookEntry {
  const { kind, failsClosed } = event
  const seconds = timeoutSeconds(event)
  const command = hookCommand({ host: name, url, seconds, failsClosed })
  return { event: event.event, kind, group: group(command, seconds) }
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
 * Weir does not answer, exit code 2 denies the call. Code 1 lets the host go on with a warning. A time
 * limit of the host lets the call run. The command uses curl, which starts in a tenth of the time of
 * Node.js. The host's review shows the whole command, which names no path of an installation.
 */
export function hookCommand({
  host,
  url,
  seconds,
  failsClosed,
}: {
  host: string
  url: string
  seconds: number
  failsClosed: boolean
}): string {
  const post = `${postFunction(url, seconds - 5)}; post`
  return failsClosed
    ? `${post} || { echo 'Weir does not answer, so this was stopped. ${remedyOf(host)}' >&2; exit 2; }`
    : `${post} || exit 1`
}

/**
 * As hookCommand of an event that fails closed, for a plug-in: if nothing answers, it starts a server
 * (`weir hooks start`) and posts again. WEIR_COMMAND in the user's environment names another Weir.
 */
function startingCommand({ url, weir }: { url: string; weir: string }): string {
  const start = `\${WEIR_COMMAND:-${weir}} hooks start --url ${new URL(url).origin}`
  const denial = `{ echo 'Weir did not start, so this was stopped. Its reason is above.' >&2; exit 2; }`
  return `${postFunction(url, 25)}; post 2>/dev/null || { ${start} >&2 && post; } || ${denial}`
}

/**
 * Reads the input, and defines `post`, which posts the input and prints the answer. Its exit code is that of
 * curl, or 1 for an answer without Weir's mark, and on a machine that cannot compute the proof.
 */
export function postFunction(url: string, secondsMax: number): string {
  const { origin } = new URL(url)
  const lines = `"$secret" "$nonce" '${targetOf(url)}' "$(printf %s "$event" | hex)" "$(printf %s "$body" | hex)" "$secret"`
  return `event=$(cat); cr=$(printf '\\r'); \
hex() { { sha256sum 2>/dev/null || shasum -a 256; } | cut -c1-64; }; \
post() { \
nonce=; proof=; secret=$(cat "\${XDG_STATE_HOME:-$HOME/.local/state}/weir/owner" 2>/dev/null); \
[ -z "$secret" ] || [ "$WEIR_PROOF" = off ] || { nonce=$(od -An -tx1 -N16 /dev/urandom | tr -d ' \\n'); [ -n "$nonce" ] || return; }; \
answer=$(printf %s "$event" | curl -q -s -S --fail -i --noproxy '*' --max-time ${secondsMax} \
-H 'content-type: application/json' -H 'expect:' -H "${nonceHeader}: $nonce" --data-binary @- '${url}') || return; \
body=\${answer#*"$cr"?"$cr"}; body=\${body#?}; \
[ -z "$nonce" ] || { proof=" $(printf '%s\\n' ${lines} | hex)"; [ \${#proof} = 65 ] || return; }; \
case $answer in *"${markHeader}: ${markName}$proof$cr"*) printf %s "$body";; \
*) echo 'Another server answers at ${origin} in place of your Weir.' >&2; return 1;; esac; }`
}
