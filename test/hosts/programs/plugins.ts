// The plug-ins of this repository, by the commands of their hosts.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from './program.ts'

const root = join(import.meta.dirname, '..', '..', '..')

export const claudeCodePlugin: Plugin = {
  folder: 'claude-code',
  install: [
    ['plugin', 'marketplace', 'add', root],
    ['plugin', 'install', 'weir@weir'],
  ],
  uninstall: [
    ['plugin', 'uninstall', 'weir@weir'],
    ['plugin', 'marketplace', 'remove', 'weir'],
  ],
  settings: { file: '.claude/settings.json', names: 'weir@weir' },
  endsTurns: true,
  seesRefusals: true,
}

export const codexPlugin: Plugin = {
  folder: 'codex',
  install: [
    ['plugin', 'marketplace', 'add', root],
    ['plugin', 'add', 'weir@weir'],
  ],
  uninstall: [
    ['plugin', 'remove', 'weir@weir'],
    ['plugin', 'marketplace', 'remove', 'weir'],
  ],
  settings: { file: '.codex/config.toml', names: 'weir@weir' },
}

const ofOpencode = join(root, 'integrations', 'opencode')
const opencodeConfig = '.config/opencode/opencode.json'

export const opencodePlugin: Plugin = {
  folder: 'opencode',
  install: [['plugin', ofOpencode, '--global']],
  uninstall(home) {
    const file = join(home, opencodeConfig)
    const { plugin, ...config } = JSON.parse(readFileSync(file, 'utf8'))
    const others = plugin.filter((one: unknown) => one !== ofOpencode)
    writeFileSync(file, JSON.stringify({ ...config, plugin: others }))
  },
  settings: { file: opencodeConfig, names: ofOpencode },
  endsTurns: true,
  seesRefusals: true,
}

const ofPi = join(root, 'integrations', 'pi')

export const piPlugin: Plugin = {
  folder: 'pi',
  install: [['install', ofPi]],
  uninstall: [['remove', ofPi]],
  settings: { file: '.pi/agent/settings.json', names: 'integrations/pi' },
  endsTurns: true,
  seesRefusals: true,
}

export const geminiCliPlugin: Plugin = {
  folder: 'gemini-cli',
  install: [['extensions', 'install', join(root, 'integrations', 'gemini-cli'), '--consent']],
  uninstall: [['extensions', 'uninstall', 'weir']],
  settings: { file: '.gemini/extensions/weir/gemini-extension.json', names: 'weir' },
}

export const copilotPlugin: Plugin = {
  folder: 'copilot',
  install: [
    ['plugin', 'marketplace', 'add', root],
    ['plugin', 'install', 'weir@weir'],
  ],
  uninstall: [
    ['plugin', 'uninstall', 'weir@weir'],
    ['plugin', 'marketplace', 'remove', 'weir'],
  ],
  settings: { file: '.copilot/settings.json', names: '"weir@weir": true' },
}

export const hermesPlugin: Plugin = {
  folder: 'hermes',
  install: [['plugins', 'install', `file://${root}#integrations/hermes`, '--enable']],
  uninstall: [
    ['plugins', 'disable', 'weir'],
    ['plugins', 'remove', 'weir'],
  ],
  settings: { file: '.hermes/plugins', names: 'weir' },
  endsTurns: true,
  seesRefusals: true,
}

export const openclawPlugin: Plugin = {
  folder: 'openclaw',
  install: [
    [
      ...['plugins', 'install', '--link', join(root, 'integrations', 'openclaw')],
      ...['--force', '--accept-capabilities'],
    ],
    ['config', 'set', 'plugins.entries.weir.hooks.allowConversationAccess', 'true'],
  ],
  uninstall: [['plugins', 'uninstall', 'weir', '--force']],
  settings: { file: '.openclaw/openclaw.json', names: 'integrations/openclaw' },
  endsTurns: true,
  seesRefusals: true,
}

export const clinePlugin: Plugin = {
  folder: 'cline',
  install: [['plugin', 'install', join(root, 'integrations')]],
  uninstall: [['plugin', 'uninstall', 'weir']],
  open: 'all, if the plug-in needs more than 4 seconds to load; otherwise no call runs',
  settings: { file: '.cline/plugins', names: 'cline/weir.ts' },
  endsTurns: true,
}
