// Weir's plug-ins on this machine: where a host names an installed one, and how to remove it.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HostPlaces } from './host.ts'

export type HostPlugin = {
  /** The name of the host on the command line, and of the plug-in's folder in `integrations`. */
  host: string
  title: string
  install: string
  uninstall: string
  /** The files that name it. */
  places(places: HostPlaces): string[]
  /** In the text of such a file. */
  mark: RegExp
}

const inMarketplace = /weir@weir"?\s*(?::\s*true|\])/

export const hostPlugins: readonly HostPlugin[] = [
  {
    host: 'claude-code',
    title: 'Claude Code',
    install: 'claude plugin marketplace add PATH_OF_WEIR && claude plugin install weir@weir',
    uninstall: 'claude plugin uninstall weir@weir',
    places: ({ home, folder, environment }) => [
      join(environment.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json'),
      join(folder, '.claude', 'settings.json'),
      join(folder, '.claude', 'settings.local.json'),
    ],
    mark: inMarketplace,
  },
  {
    host: 'codex',
    title: 'Codex',
    install: 'codex plugin marketplace add PATH_OF_WEIR && codex plugin add weir@weir',
    uninstall: 'codex plugin remove weir@weir',
    places: ({ home, environment }) => [
      join(environment.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    ],
    mark: inMarketplace,
  },
  {
    host: 'gemini-cli',
    title: 'Gemini CLI',
    install: 'gemini extensions install PATH_OF_WEIR/integrations/gemini-cli',
    uninstall: 'gemini extensions uninstall weir',
    places: ({ home, environment }) => [
      join(
        environment.GEMINI_CLI_HOME || home,
        ...['.gemini', 'extensions', 'weir', 'gemini-extension.json'],
      ),
    ],
    mark: /"name":\s*"weir"/,
  },
  {
    host: 'copilot',
    title: 'Copilot CLI',
    install: 'copilot plugin marketplace add PATH_OF_WEIR && copilot plugin install weir@weir',
    uninstall: 'copilot plugin uninstall weir@weir',
    places: ({ home, environment }) => [
      join(environment.COPILOT_HOME || join(home, '.copilot'), 'settings.json'),
    ],
    mark: inMarketplace,
  },
  {
    host: 'opencode',
    title: 'OpenCode',
    install: 'opencode plugin PATH_OF_WEIR/integrations/opencode --global',
    uninstall: 'delete its line from "plugin" in opencode.json',
    places: ({ home, folder, environment }) =>
      [
        join(environment.XDG_CONFIG_HOME || join(home, '.config'), 'opencode'),
        folder,
        join(folder, '.opencode'),
      ].flatMap((place) => ['opencode.json', 'opencode.jsonc'].map((name) => join(place, name))),
    mark: /integrations\/opencode\/?"/,
  },
  {
    host: 'pi',
    title: 'Pi',
    install: 'pi install PATH_OF_WEIR/integrations/pi',
    uninstall: 'pi remove PATH_OF_WEIR/integrations/pi',
    places: ({ home, folder }) => [
      join(home, '.pi', 'agent', 'settings.json'),
      join(folder, '.pi', 'settings.json'),
    ],
    mark: /integrations\/pi\/?"/,
  },
]

/** Undefined: Weir has no plug-in for a host of this name. */
export function pluginOf(host: string): HostPlugin | undefined {
  return hostPlugins.find((plugin) => plugin.host === host)
}

/** The file that names the installed plug-in. */
export function placeOfPlugin(plugin: HostPlugin, places: HostPlaces): string | undefined {
  return plugin
    .places(places)
    .find((path) => existsSync(path) && plugin.mark.test(readFileSync(path, 'utf8')))
}
