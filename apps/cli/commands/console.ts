// weir console: the address of the console.

import type { Command } from 'commander'
import { withSettings } from './flags.ts'

export function addConsole(program: Command): void {
  withSettings(program.command('console'), ['dataFolder'])
    .option('--http-host <address>', 'the address of the server', '127.0.0.1')
    .option('--http-port <port>', 'its port', '4140')
    .option('--open', "open it with the system's browser")
    .action(async (options) =>
      (await import('../../http/console/console-command.ts')).printConsole(options, process.stdout),
    )
}
