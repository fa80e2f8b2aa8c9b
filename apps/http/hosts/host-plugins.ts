// Weir's plug-ins on this machine: where a host names an installed one, and how to remove it.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'jsonc-parser'
import { parseDocument } from 'yaml'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { isCheckout } from '../../terminal/own-command.ts'
import type { HostPlaces } from './host.ts'

export type HostPlugin = {
  /** The name of the host on the command line, and of the plug-in's folder in `integrations`. */
  host: string
  install: string
  uninstall: string
  /** The files that can name it. */
  places(places: HostPlaces): string[]
  /** Whether the text of such a file names it. Comments name nothing. */
  isNamedIn(text: string): boolean
  /**
   * The copies that the host has made, by their file in `integrations`. `place`: the file that names the plug-in.
   * Default: none, because the host loads the plug-in from its place.
   */
  copies?(place: string): Record<string, string[]>
}

const beside = (place: string, name: string) => join(dirname(place), name)

/** Their paths. */
function foldersIn(path: string): string[] {
  return existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : []
}

/** Of a host that keeps the plug-ins of a marketplace by their version. */
const cached = (place: string, host: string, folder: string) => ({
  [`${host}/hooks/hooks.json`]: foldersIn(beside(place, folder)).map((one) =>
    join(one, 'hooks', 'hooks.json'),
  ),
})

/** `isNamed`: in the settings, which can have comments. */
const inJson = (isNamed: (settings: Record<string, unknown>) => boolean) => (text: string) => {
  const settings: unknown = parse(text, [], { allowTrailingComma: true })
  return isObject(settings) && isNamed(settings)
}

const inMarketplace = inJson(
  ({ enabledPlugins }) => isObject(enabledPlugins) && enabledPlugins['weir@weir'] === true,
)

/** `list`: the member with the paths of plug-ins. `folder`: in `integrations`. */
const inPaths = (list: string, folder: string) =>
  inJson((settings) => isPath(settings[list], folder))

function isPath(paths: unknown, folder: string): boolean {
  return [paths]
    .flat()
    .some((path) => `${path}`.replace(/\/$/, '').endsWith(`/integrations/${folder}`))
}

export const hostPlugins: readonly HostPlugin[] = [
  {
    host: 'claude-code',
    install: 'claude plugin marketplace add PATH_OF_WEIR && claude plugin install weir@weir',
    uninstall: 'claude plugin uninstall weir@weir',
    places: ({ home, folder, environment }) => [
      join(environment.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json'),
      join(folder, '.claude', 'settings.json'),
      join(folder, '.claude', 'settings.local.json'),
    ],
    copies: (place) => cached(place, 'claude-code', 'plugins/cache/weir/weir'),
    isNamedIn: inMarketplace,
  },
  {
    host: 'codex',
    install: 'codex plugin marketplace add PATH_OF_WEIR && codex plugin add weir@weir',
    uninstall: 'codex plugin remove weir@weir',
    places: ({ home, environment }) => [
      join(environment.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    ],
    copies: (place) => cached(place, 'codex', 'plugins/cache/weir/weir'),
    isNamedIn: (text) => /^\s*\[plugins\."weir@weir"\](?![^[]*^\s*enabled\s*=\s*false)/m.test(text),
  },
  {
    host: 'gemini-cli',
    install: 'gemini extensions install PATH_OF_WEIR/integrations/gemini-cli',
    uninstall: 'gemini extensions uninstall weir',
    places: ({ home, environment }) => [
      join(
        environment.GEMINI_CLI_HOME || home,
        ...['.gemini', 'extensions', 'weir', 'gemini-extension.json'],
      ),
    ],
    isNamedIn: inJson(({ name }) => name === 'weir'),
    copies: (place) => ({ 'gemini-cli/hooks/hooks.json': [beside(place, 'hooks/hooks.json')] }),
  },
  {
    host: 'copilot',
    install: 'copilot plugin marketplace add PATH_OF_WEIR && copilot plugin install weir@weir',
    uninstall: 'copilot plugin uninstall weir@weir',
    places: ({ home, environment }) => [
      join(environment.COPILOT_HOME || join(home, '.copilot'), 'settings.json'),
    ],
    isNamedIn: inMarketplace,
  },
  {
    host: 'cline',
    install: 'cline plugin install PATH_OF_WEIR/integrations',
    uninstall: 'cline plugin uninstall weir',
    places: ({ home, folder, environment }) =>
      [environment.CLINE_DIR || join(home, '.cline'), join(folder, '.cline')].flatMap((place) =>
        foldersIn(join(place, 'plugins', '_installed', 'local')).map((one) =>
          join(one, 'package', 'package.json'),
        ),
      ),
    isNamedIn: inJson(({ name }) => name === 'weir'),
    copies: (place) => ({
      'weir-hooks.ts': [beside(place, 'weir-hooks.ts')],
      'cline/weir.ts': [beside(place, 'cline/weir.ts')],
    }),
  },
  {
    host: 'opencode',
    install: 'opencode plugin PATH_OF_WEIR/integrations/opencode --global',
    uninstall: 'delete its line from "plugin" in opencode.json',
    places: ({ home, folder, environment }) =>
      [
        join(environment.XDG_CONFIG_HOME || join(home, '.config'), 'opencode'),
        folder,
        join(folder, '.opencode'),
      ].flatMap((place) => ['opencode.json', 'opencode.jsonc'].map((name) => join(place, name))),
    isNamedIn: inPaths('plugin', 'opencode'),
  },
  {
    host: 'pi',
    install: 'pi install PATH_OF_WEIR/integrations/pi',
    uninstall: 'pi remove PATH_OF_WEIR/integrations/pi',
    places: ({ home, folder }) => [
      join(home, '.pi', 'agent', 'settings.json'),
      join(folder, '.pi', 'settings.json'),
    ],
    isNamedIn: inPaths('packages', 'pi'),
  },
  {
    host: 'openclaw',
    install:
      'openclaw plugins install --link PATH_OF_WEIR/integrations/openclaw --force --accept-capabilities && openclaw config set plugins.entries.weir.hooks.allowConversationAccess true',
    uninstall: 'openclaw plugins uninstall weir --force',
    places: ({ home, environment }) => [
      join(environment.OPENCLAW_STATE_DIR || join(home, '.openclaw'), 'openclaw.json'),
    ],
    isNamedIn: inJson(({ plugins }) => {
      const { load, entries } = isObject(plugins) ? plugins : {}
      const { weir } = isObject(entries) ? entries : {}
      return isObject(load) && isPath(load.paths, 'openclaw') && isObject(weir) && !!weir.enabled
    }),
  },
  {
    host: 'hermes',
    install: 'hermes plugins install file://PATH_OF_WEIR#integrations/hermes --enable',
    uninstall: 'hermes plugins disable weir && hermes plugins remove weir',
    places: ({ home, environment }) => [
      join(environment.HERMES_HOME || join(home, '.hermes'), 'config.yaml'),
    ],
    copies: (place) => ({ 'hermes/__init__.py': [beside(place, 'plugins/weir/__init__.py')] }),
    isNamedIn: (text) => {
      const settings: unknown = parseDocument(text).toJS()
      const { plugins } = isObject(settings) ? settings : {}
      const { enabled, disabled } = isObject(plugins) ? plugins : {}
      return [enabled].flat().includes('weir') && ![disabled].flat().includes('weir')
    },
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
    .find((path) => existsSync(path) && plugin.isNamedIn(readFileSync(path, 'utf8')))
}

const own = fileURLToPath(
  new URL(isCheckout ? '../../../integrations' : '../../../../integrations', import.meta.url),
)

/** Whether the host has copies of a file, and none of them is that of this Weir. */
export function isOfOtherVersion({ copies }: HostPlugin, place: string): boolean {
  return Object.entries(copies?.(place) ?? {}).some(([name, paths]) => {
    const texts = paths.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8'))
    return texts.length > 0 && !texts.includes(readFileSync(join(own, name), 'utf8'))
  })
}
