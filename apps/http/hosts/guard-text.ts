// The line that shows how to guard a host of this machine, or names the plug-in or hooks that guard it.

import { existsSync, readFileSync } from 'node:fs'
import { hostTitle } from '../../../shared/hosts/hosts.ts'
import { isCheckout, ownFolder, shellWord } from '../../terminal/own-command.ts'
import { installedIn } from './hook-settings.ts'
import type { Host, HostPlaces } from './host.ts'
import { placeOfPlugin, pluginOf } from './host-plugins.ts'
import { hosts } from './hosts.ts'

/** Undefined: Weir has no plug-in for a host of this name. */
export function guardText(name: string, places: HostPlaces): string | undefined {
  const plugin = pluginOf(name)
  if (plugin === undefined) return undefined
  const title = hostTitle(name)
  const place = placeOfPlugin(plugin, places)
  if (place !== undefined) return `${title} has Weir's plug-in: ${place}`
  const host = hosts.find((one) => one.name === name)
  const file = host && fileWithHooks(host, places)
  // The plug-in next to the hooks would judge each call twice.
  return file === undefined
    ? `Guard ${title}: ${withOwnFolder(plugin.install)}`
    : `${title} has Weir's hooks: ${file}`
}

/** Some hosts clone a repository. A package is none, so the user inserts the path of a checkout. */
function withOwnFolder(command: string): string {
  if (!isCheckout && command.includes('file://')) return command
  return command.replaceAll('PATH_OF_WEIR', () => shellWord(ownFolder))
}

function fileWithHooks(host: Host, places: HostPlaces): string | undefined {
  return (['user', 'project'] as const)
    .map((scope) => host.settingsFile(scope, places))
    .find((file) => existsSync(file) && hasHooks(file))
}

/** A file that its host cannot read holds no hook that runs. */
function hasHooks(file: string): boolean {
  try {
    return installedIn(readFileSync(file, 'utf8'), file).url !== null
  } catch {
    return false
  }
}
