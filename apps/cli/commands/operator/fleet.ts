// weir fleet.

import type { Command } from 'commander'
import { settingsOf } from '../flags.ts'
import { by, changing } from './setting-commands.ts'

export function addFleet(program: Command): void {
  changing(program.command('fleet'))
    .option(
      '--format <number>',
      "pin the record format in which all processes write, such as 1 before an upgrade that you may take back; 'newest' removes the pin",
    )
    .option(...by)
    .option('--json', 'print one JSON object')
    .action(async (options) => {
      const { showFleet } = await import('../../../service/fleet/fleet.ts')
      await showFleet(options, await settingsOf(options), process.stdout)
    })
}
