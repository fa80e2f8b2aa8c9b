// The plug-ins of this repository, by the commands of their hosts.

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
