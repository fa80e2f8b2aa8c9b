// `weir stop` and `weir release`: each writes one record to `policies`.

import { personHere } from '../../../services/approval/performer/person.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { OperatorStop, StopMode } from '../../../shared/contract/messages.ts'
import { stopId, stopKeyPrefix } from '../../../shared/contract/topology.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { removeSetting } from '../../../shared/runtime/settings/removed-settings.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import {
  agentInLog,
  conversationInLog,
  tenantInLog,
  toolInLog,
} from '../../history/agents-in-log.ts'
import { withExistingRegistry } from '../../history/registry.ts'
import { shellWord } from '../../terminal/shell-word.ts'
import { printable } from '../../terminal/text/printable.ts'
import { instant } from '../../terminal/text/quantities.ts'
import { unseenNameText, unseenTenantText, unseenText } from '../policy/layers.ts'
import { type ScopeFlags, scopeOf } from './scope.ts'
import { type StoredStop, storedStops, storeStop } from './stored.ts'

export type StopOptions = ScopeFlags & {
  reason: string
  drain?: boolean
  now?: boolean
  by?: string
}

/**
 * A stop at `drain` can be followed by one at `now`. Throws `usage`, and `stop.taken` if the scope
 * is stopped already. `errors`: a warning about a name that the log does not know.
 */
export async function stop(
  { reason, drain = false, now = false, by = personHere(), ...flags }: StopOptions,
  settings: Settings,
  out: NodeJS.WriteStream,
  errors: NodeJS.WriteStream = process.stderr,
): Promise<void> {
  const scope = scopeOf(flags)
  if (drain && now)
    throw new WeirError(
      'usage',
      '--drain and --now are given; give one of them, or none for --drain',
    )
  checkReason(reason)
  const mode: StopMode = now ? 'now' : 'drain'
  const id = stopId(scope)
  const unseen = await withExistingRegistry(settings, async (registry) => {
    await placeStop(registry, { ...scope, mode, reason, setBy: by })
    return unseenScope(scope, registry) // the stop counts already
  })
  out.write(`${printable(id)} is stopped: ${effectOf(scope.scope, mode)}\n`)
  out.write(`to release it: weir release ${shellWord(id)}\n`)
  if (unseen !== undefined) errors.write(`weir: warning: ${unseen}\n`)
}

/** A warning about a name that nothing in the log has. Undefined: there is nothing to report. */
async function unseenScope(
  { scope, name }: Pick<OperatorStop, 'scope' | 'name'>,
  log: Parameters<typeof agentInLog>[1],
): Promise<string | undefined> {
  switch (scope) {
    case 'all':
      return undefined
    case 'agent':
      return unseenText(name, await agentInLog(name, log))
    case 'tenant':
      return unseenTenantText(name, await tenantInLog(name, log))
    case 'tool':
      return unseenNameText('no offer of a tool', name, await toolInLog(name, log))
    case 'conversation':
      return unseenNameText('no conversation', name, await conversationInLog(name, log))
  }
}

type StopsTable = Parameters<typeof storedStops>[0] &
  Parameters<typeof storeStop>[0] &
  Parameters<typeof removeSetting>[0]

/** Writes the stop. Throws `usage` for its reason, and `stop.taken`. */
export async function placeStop(
  table: StopsTable,
  stop: Omit<OperatorStop, 'type' | 'setAt'>,
): Promise<void> {
  checkReason(stop.reason)
  const id = stopId(stop)
  const stops = await storedStops(table)
  const known = stops.find((other) => other.id === id)
  if (known !== undefined && !(stop.mode === 'now' && known.stop?.mode === 'drain'))
    throw takenBy(known)
  if (known === undefined && stops.length >= limits.stopsMax)
    throw new WeirError(
      'stop.taken',
      `${stops.length} stops are in force, which is the limit. Release one (weir release), or stop with a wider scope`,
    )
  await storeStop(table, stop)
}

/** Throws `stop.unknown`. */
export async function releaseStop(table: StopsTable, id: string, by: string): Promise<void> {
  const stops = await storedStops(table)
  if (!stops.some((stop) => stop.id === id)) throw unknownStop(id, stops)
  await removeSetting(table, stopKeyPrefix + id, by)
}

/** Throws `stop.unknown`. */
export async function release(
  id: string,
  { by = personHere() }: { by?: string },
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  await withExistingRegistry(settings, (registry) => releaseStop(registry, id, by))
  const effect = id.startsWith('tool:')
    ? 'its calls run again'
    : 'new questions run again, and turns that have ended stay ended'
  out.write(`${printable(id)} is released: ${effect}\n`)
}

function checkReason(reason: string): void {
  const bytes = Buffer.byteLength(reason)
  if (reason.trim() === '') throw new WeirError('usage', '--reason is blank; say why')
  if (bytes > limits.reasonBytesMax)
    throw new WeirError(
      'usage',
      `--reason has ${bytes} bytes; at most ${limits.reasonBytesMax} are taken`,
    )
}

function takenBy({ id, stop }: StoredStop): WeirError {
  const since = stop && ` since ${instant(stop.setAt)} by ${stop.setBy} (${stop.reason})`
  const what = stop?.mode === 'drain' ? 'stop it at once with --now, or release it' : 'release it'
  return new WeirError(
    'stop.taken',
    printable(`${id} is stopped already${since ?? ''}; ${what}: weir release ${shellWord(id)}`),
  )
}

function unknownStop(id: string, stops: StoredStop[]): WeirError {
  const ids = stops.length === 0 ? 'none' : stops.map((stop) => stop.id).join(', ')
  return new WeirError(
    'stop.unknown',
    printable(`no stop has the id ${id}; stops in force: ${ids}`),
  )
}

function effectOf(scope: OperatorStop['scope'], mode: StopMode): string {
  const start = scope === 'tool' ? 'no such call starts' : 'no model request and no call starts'
  return `within a second ${start}; running ones ${mode === 'now' ? 'are stopped' : 'end normally'}`
}
