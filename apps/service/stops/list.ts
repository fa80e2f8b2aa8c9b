// `weir stops`: the stops in force, each with its author, time, mode and reason, or the newest releases.

import {
  type Shown,
  type StoredSetting,
  shownSetting,
  storedSettings,
} from '../../../shared/runtime/settings/operator-setting.ts'
import { removedSettings } from '../../../shared/runtime/settings/removed-settings.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withLog } from '../../history/open-log.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { instant } from '../../terminal/text/quantities.ts'
import { stopSetting } from '../operator-settings.ts'

/** `--json`: one object per line. */
export type ShownStop = Shown<'operator-stop', (typeof fields)[number]>
const fields = ['scope', 'name', 'mode', 'reason', 'setBy', 'setAt'] as const

export async function listStops(
  { json = false, released = false }: { json?: boolean; released?: boolean },
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  if (released) return listReleases(json, settings, out)
  const stops = await withLog(settings, (log) => storedSettings(stopSetting, log))
  if (json) for (const stop of stops) out.write(`${printableJson(shownStop(stop))}\n`)
  else if (stops.length === 0) out.write('nothing is stopped\n')
  else for (const stop of stops) out.write(`${printable(line(stop))}\n`)
}

/** `--json`: one ReleasedStop per line. */
async function listReleases(
  json: boolean,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  const releases = await withLog(settings, (log) => releasedStops(log))
  if (releases.length === 0 && !json) out.write('no release is kept\n')
  for (const one of releases) {
    const text = `${one.id}  released ${instant(one.releasedAt)} by ${one.releasedBy}`
    out.write(json ? `${printableJson(one)}\n` : `${printable(text)}\n`)
  }
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
