// `weir stops`: the stops in force, each with its author, time, mode and reason, or the newest releases.

import {
  type Shown,
  type StoredSetting,
  shownSetting,
  storedSettings,
} from '../../../shared/runtime/settings/operator-setting.ts'
import { removedSettings } from '../../../shared/runtime/settings/removed-settings.ts'
import { printable } from '../../terminal/text/printable.ts'
import { instant } from '../../terminal/text/quantities.ts'
import { stopSetting } from '../operator-settings.ts'
import type { SettingList } from '../setting-command.ts'

/** `--json`: one object per line. */
export type ShownStop = Shown<'operator-stop', (typeof fields)[number]>
const fields = ['scope', 'name', 'mode', 'reason', 'setBy', 'setAt'] as const

/** `released`: the newest releases instead. */
export function stopListOf({
  released = false,
}: {
  released?: boolean
}): SettingList<object, StoredSetting<'operator-stop'> | ReleasedStop> {
  return released ? releaseList : stopList
}

const stopList: SettingList<object, StoredSetting<'operator-stop'>> = {
  read: () => (log) => storedSettings(stopSetting, log),
  json: shownStop,
  lines: (stop) => [printable(line(stop))],
  none: 'nothing is stopped',
}

const releaseList: SettingList<object, ReleasedStop> = {
  read: () => releasedStops,
  lines: ({ id, releasedBy, releasedAt }) => [
    printable(`${id}  released ${instant(releasedAt)} by ${releasedBy}`),
  ],
  none: 'no release is kept',
}

/** The newest releases first. `id`: of the stop. */
export async function releasedStops(
  table: Parameters<typeof removedSettings>[0],
): Promise<ReleasedStop[]> {
  return (await removedSettings(table)).flatMap(({ setting, setBy, setAt }) =>
    setting.startsWith(stopSetting.scope)
      ? [{ id: setting.slice(stopSetting.scope.length), releasedBy: setBy, releasedAt: setAt }]
      : [],
  )
}

export type ReleasedStop = { id: string; releasedBy: string; releasedAt: number }

export function shownStop(stop: StoredSetting<'operator-stop'>): ShownStop {
  return shownSetting(stop, fields)
}

function line({ id, value: stop }: StoredSetting<'operator-stop'>): string {
  if (stop === undefined) return `${id}  cannot be read; nothing starts until it is released`
  return `${id}  ${stop.mode}  since ${instant(stop.setAt)} by ${stop.setBy}: ${stop.reason}`
}
