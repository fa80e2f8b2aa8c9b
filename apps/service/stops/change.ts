// `weir stop`: writes one record to `policies`.

import { limits } from '../../../shared/contract/limits.ts'
import type { OperatorStop } from '../../../shared/contract/messages.ts'
import { stopId } from '../../../shared/contract/topology.ts'
import { usageError, WeirError } from '../../../shared/lib/errors.ts'
import {
  placeSetting,
  type StoredSetting,
  storedSettings,
} from '../../../shared/runtime/settings/operator-setting.ts'
import { removalCommand } from '../../../shared/settings/setting-words.ts'
import { printable } from '../../terminal/text/printable.ts'
import { instant } from '../../terminal/text/quantities.ts'
import { stopSetting } from '../operator-settings.ts'
import { type SettingChange, warning } from '../setting-command.ts'
import { unseenScope } from '../unseen.ts'
import { type ScopeFlags, scopeOf } from './scope.ts'

export type StopOptions = ScopeFlags & {
  reason: string
  drain?: boolean
  now?: boolean
}

type NewStop = Omit<OperatorStop, 'type' | 'setBy' | 'setAt'>

/**
 * A stop at `drain` can be followed by one at `now`. Throws `usage`, and `stop.taken` if the scope
 * is stopped already. Warns about a name that the log does not know.
 */
export const stopChange: SettingChange<StopOptions, NewStop, NewStop> = {
  read({ reason, drain = false, now = false, ...flags }) {
    const scope = scopeOf(flags)
    if (drain && now)
      throw usageError('--drain and --now are given; give one of them, or none for --drain')
    checkReason(reason)
    return { ...scope, mode: now ? 'now' : 'drain', reason }
  },
  async write(table, stop, { by }) {
    const id = stopId(stop)
    const known = (await storedSettings(stopSetting, table)).find((other) => other.id === id)
    if (known !== undefined && !(stop.mode === 'now' && known.value?.mode === 'drain'))
      throw takenBy(known)
    const setAt = table.bus.clock.now()
    await placeSetting(stopSetting, table, { type: 'operator-stop', ...stop, setBy: by, setAt })
    return stop
  },
  notes: async (stop, { table }) => [warning(await unseenScope(stop, table))],
  lines(stop) {
    const id = stopId(stop)
    return [`${id} is stopped: ${effectOf(stop)}`, `to release it: ${removalCommand('stop', id)}`]
  },
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

function effectOf({ scope, mode }: NewStop): string {
  const start = scope === 'tool' ? 'no such call starts' : 'no model request and no call starts'
  return `within a second ${start}; running ones ${mode === 'now' ? 'are stopped' : 'end normally'}`
}
