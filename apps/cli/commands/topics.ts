// weir topics plan, create, check.

import type { Command } from 'commander'
import type { SettingKey } from '../../../shared/settings/settings.ts'
import { answers } from '../../terminal/ending.ts'
import { keeping, listed, whichBus, withSettings } from './flags.ts'

const topicSettings: SettingKey[] = [...whichBus, 'topicPrefix', 'partitions', 'replicationFactor']

export function addTopics(program: Command): void {
  const topics = program
    .command('topics')
    .description('what Weir needs of its topics on Kafka: a plan, creating them, checking them')

  withSettings(topics.command('plan'), [...topicSettings, ...keeping])
    .description(
      "the topics, what each must be and why, and the lines that create them with Kafka's own tool; asks no broker",
    )
    .option(
      '--guard <name>',
      'also the topic of a guard of this name; may be given again for further ones',
      listed,
    )
    .option('--json', 'one JSON object')
    .action(async (options) =>
      (await import('../../service/topics/topics.ts')).showPlan(options, process.stdout),
    )

  const all = { yes: 'all are as Weir needs them', no: 'one is not' }
  withSettings(answers(topics.command('create'), all), [...topicSettings, ...keeping])
    .description(
      'creates those that are missing, also of the guards that are registered, and changes none that exists',
    )
    .option('--json', 'one JSON object')
    .action(async (options) => {
      process.exitCode = await (await import('../../service/topics/topics.ts')).createMissing(
        options,
        process.stdout,
        process.stderr,
      )
    })

  withSettings(answers(topics.command('check'), all), [...topicSettings, ...keeping])
    .description(
      'compares them, and those of the guards that are registered, with the plan; each difference is told with its remedy',
    )
    .option('--json', 'one JSON object')
    .action(async (options) => {
      process.exitCode = await (await import('../../service/topics/topics.ts')).checkTopics(
        options,
        process.stdout,
        process.stderr,
      )
    })
}
