// weir backup, restore: copies of a data folder.

import type { Command } from 'commander'
import { settingsOf, withSettings } from '../flags.ts'

export function addBackup(program: Command): void {
  withSettings(program.command('backup'), ['bus', 'dataFolder'])
    .argument('<file>', 'the file to write, such as weir-2026-11-29.backup')
    .action(async (file, options) => {
      const { backUp } = await import('../../../service/backup/backup.ts')
      process.exitCode = backUp(file, await settingsOf(options), process.stdout)
    })

  withSettings(program.command('restore'), [
    'bus',
    'dataFolder',
    'topicPrefix',
    'encryptionKeys',
    'encryptionCommand',
  ])
    .argument('<file>', 'a file of weir backup, or a copy of a weir.db that no process uses')
    .option('--resume', 'set no stop: calls that wait for a person go on with the first process')
    .action(async (file, options) => {
      const { restore } = await import('../../../service/backup/restore.ts')
      process.exitCode = await restore(file, options, await settingsOf(options), process.stdout)
    })
}
