// `weir stop`: writes one record to `policies`.

import { personHere } from '../../../services/approval/performer/person.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { OperatorStop, StopMode } from '../../../shared/contract/messages.ts'
import { stopId } from '../../../shared/contract/topology.ts'
import { usageError, WeirError } from '../../../shared/lib/errors.ts'
import {
  placeSetting,
  type StoredSetting,
  storedSettings,
  type WritableTable,
} from '../../../shared/runtime/settings/operator-setting.ts'
import { removalCommand } from '../../../shared/settings/setting-words.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withExistingRegistry } from '../../history/registry.ts'
import { printable } from '../../terminal/text/printable.ts'
import { instant } from '../../terminal/text/quantities.ts'
import { stopSetting } from '../operator-settings.ts'
import { unseenScope } from '../unseen.ts'
import { type ScopeFlags, scopeOf } from './scope.ts'

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
    throw usageError('--drain and --now are given; give one of them, or none for --drain')
  checkReason(reason)
  const mode: StopMode = now ? 'now' : 'drain'
  const id = stopId(scope)
  const unseen = await withExistingRegistry(settings, async (registry) => {
    await placeStop(registry, { ...scope, mode, reason, setBy: by })
    return unseenScope(scope, registry) // the stop counts already
  })
  out.write(`${printable(id)} is stopped: ${effectOf(scope.scope, mode)}\n`)
  out.write(`to release it: ${removalCommand('stop', id)}\n`)
  if (unseen !== undefined) errors.write(`weir: warning: ${unseen}\n`)
}

/** Writes the stop. Throws `usage` for its reason, and `stop.taken`. */
export async function placeStop(
  table: WritableTable,
  stop: Omit<OperatorStop, 'type' | 'setAt'>,
): Promise<void> {
  checkReason(stop.reason)
  const id = stopId(stop)
  const known = (await storedSettings(stopSetting, table)).find((other) => other.id === id)
  if (known !== undefined && !(stop.mode === 'now' && known.value?.mode === 'drain'))
    throw takenBy(known)
  await placeSetting(stopSetting, table, {
    type: 'operator-stop',
    ...stop,
    setAt: table.bus.clock.now(),
  })
}

function checkReason(reason: string): void {
  const bytes = Buffer.byteLength(reason)
  if (reason.trim() === '') throw usageError('--reason is blank; say why')
  if (bytes > limits.reasonBytesMax)
    throw usageError(`--reason has ${bytes} bytes; at most ${limits.reasonBytesMax} are taken`)
}

function takenBy({ id, value: stop }: StoredSetting<'operator-stop'>): WeirError {
  const since = stop && ` since ${instant(stop.setAt)} by ${stop.setBy} (${stop.reason})`
  const what = stop?.mode === 'drain' ? 'stop it at once with --now, or release it' : 'release it'
  return new WeirError(
    'stop.taken',
    printable(`${id} is stopped already${since ?? ''}; ${what}: ${removalCommand('stop', id)}`),
  )
}

function effectOf(scope: OperatorStop['scope'], mode: StopMode): string {
  const start = scope === 'tool' ? 'no such call starts' : 'no model request and no call starts'
  return `within a second ${start}; running ones ${mode === 'now' ? 'are stopped' : 'end normally'}`
}
