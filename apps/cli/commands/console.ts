// weir console: the address of the console, or a server of the console.

import type { Command } from 'commander'
import { endWith } from '../../terminal/text/ending.ts'
import { whichBus, withSettings } from './flags.ts'

export function addConsole(program: Command): void {
  withSettings(program.command('console'), [...whichBus, 'topicPrefix', 'logLevel'])
    .option('--http-host <address>', 'the address of the server', '127.0.0.1')
    .option('--http-port <port>', 'its port', '4140')
    .option('--open', "open it with the system's browser")
    .action(async (options) =>
      endWith(
        await (await import('../../http/console/console-command.ts')).printConsole(
          options,
          process.stdout,
        ),
      ),
    )
}
