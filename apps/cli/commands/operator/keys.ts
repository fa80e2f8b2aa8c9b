// weir keys create|tenant.

import type { Command } from 'commander'
import { listed, once, settingsOf, whichBus, withSettings } from '../flags.ts'

export function addKeys(program: Command): void {
  const keys = program.command('keys')

  keys
    .command('create')
    .description(
      'Write a key file for each principal on Kafka, and the root key. The same call again writes the same keys.',
    )
    .argument('<folder>', 'the folder of the files; they are readable by you only')
    .option('--guard <name>', 'also the keys of this guard; name all guards each time', listed)
    .option('--rotate', 'begin the next generation: readers accept it and the one before')
    .action(async (folder, options) =>
      (await import('../../../service/keys/create.ts')).createKeys(folder, options, process.stdout),
    )

  keys
    .command('tenant')
    .description(
      "Add an encryption key for a tenant's records from then on; older keys still decrypt. '*': all tenants without a key.",
    )
    .argument('<tenant>', "the tenant, or '*'")
    .requiredOption('--file <file>', 'the file of the keys; it is made readable by you only', once)
    .option('--delete', 'delete all keys of the tenant: its records become unreadable')
    .action(async (tenant, options) =>
      (await import('../../../service/keys/tenant.ts')).changeTenantKeys(
        tenant,
        options,
        process.stdout,
      ),
    )

  withSettings(keys.command('renew'), [...whichBus, 'topicPrefix', 'logLevel', 'synchronous'])
    .description(
      "Encrypt conversations' keys with their tenants' newest keys, and delete deleted conversations' keys.",
    )
    .option('--json', 'print one JSON object')
    .action(async (options) => {
      process.exitCode = await (
        await import('../../../service/keys/renew.ts')
      ).renewConversationKeys(options, await settingsOf(options), process.stdout)
    })
}
