// weir topics plan, create, check.

import type { Command } from 'commander'
import type { SettingKey } from '../../../shared/settings.ts'
import { keeping, listed, whichBus, withSettings } from './flags.ts'

const topicSettings: SettingKey[] = [...whichBus, 'topicPrefix', 'partitions', 'replicationFactor']

export function addTopics(program: Command): void {
  const topics = program.command('topics').description('what Weir needs of its topics on Kafka: a plan, creating them, checking them')

  withSettings(topics.command('plan'), [...topicSettings, ...keeping])
    .description("the topics, what each must be and why, and the lines that create them with Kafka's own tool; asks no broker")
    .option('--guard <name>', 'also the topic of a guard of this name; may be given again for further ones', listed)
    .option('--json', 'one JSON object')
    .action(async (options) => (await import('../topics/topics.ts')).showPlan(options, process.stdout))

  withSettings(topics.command('create'), [...topicSettings, ...keeping])
    .description(
      'creates those that are missing, also of the guards that are registered, and changes none that exists; exit 0: all are as Weir needs them, 1: one is not',
    )
    .option('--json', 'one JSON object')
    .action(async (options) => {
      process.exitCode = await (await import('../topics/topics.ts')).createMissing(options, process.stdout, process.stderr)
    })

  withSettings(topics.command('check'), [...topicSettings, ...keeping])
    .description(
      'compares them, and those of the guards that are registered, with the plan; exit 0: all are as Weir needs them, 1: each difference is told with its remedy',
    )
    .option('--json', 'one JSON object')
    .action(async (options) => {
      process.exitCode = await (await import('../topics/topics.ts')).checkTopics(options, process.stdout, process.stderr)
    })
}
