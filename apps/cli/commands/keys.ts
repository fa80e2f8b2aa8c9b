// weir keys create.

import type { Command } from 'commander'
import { listed } from './flags.ts'

export function addKeys(program: Command): void {
  const keys = program.command('keys').description('Create the keys of signed records on Kafka.')

  keys
    .command('create')
    .description(
      'Write a key file for each stage, for clients (edge), approvers, operators and guards, and the root key. The same call again writes the same keys.',
    )
    .argument('<folder>', 'the folder of the files; they are readable by you only')
    .option('--guard <name>', 'also the keys of this guard; name all guards each time', listed)
    .option('--rotate', 'begin the next generation: readers accept it and the one before')
    .action(async (folder, options) =>
      (await import('../../service/keys/create.ts')).createKeys(folder, options, process.stdout),
    )
}
