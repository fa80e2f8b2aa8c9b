// weir topics plan, acls, create, check, grow.

import { type Command, Option } from 'commander'
import type { SettingKey } from '../../../../shared/settings/settings.ts'
import { answers } from '../../../terminal/text/ending.ts'
import { keeping, listed, whichBus, withSettings } from '../flags.ts'

const topicSettings: SettingKey[] = [...whichBus, 'topicPrefix', 'partitions', 'replicationFactor']

const strimziCluster = (resources: string) =>
  ['--cluster <name>', `the label strimzi.io/cluster of ${resources}`, 'my-cluster'] as const

export function addTopics(program: Command): void {
  const topics = program.command('topics')

  withSettings(topics.command('plan'), [...topicSettings, ...keeping])
    .description(
      "Print the topics, their properties with reasons, and the lines for Kafka's tool. Needs no broker.",
    )
    .option('--guard <name>', 'also the topic of this guard; repeat for more', listed)
    .addOption(
      new Option(
        '--as <form>',
        'table (with the lines), KafkaTopics of Strimzi (kafka.strimzi.io/v1), or json',
      )
        .choices(['table', 'strimzi', 'json'])
        .default('table'),
    )
    .option(...strimziCluster("Strimzi's topics"))
    .addOption(new Option('--json', 'the same as --as json').conflicts('as'))
    .action(async (options) =>
      (await import('../../../service/topics/topics.ts')).showPlan(options, process.stdout),
    )

  withSettings(topics.command('acls'), topicSettings)
    .description("Print each principal's least rights on Kafka. Changes nothing.")
    .option('--guard <name>', 'also this guard; repeat for more', listed)
    .option('--registered', 'also the guards that are registered in the log; needs a broker')
    .option(
      '--user <pattern>',
      'the names of the users, such as CN={principal},O=weir',
      'weir-{principal}',
    )
    .addOption(
      new Option(
        '--as <form>',
        'table (with the lines), lines of kafka-acls.sh, KafkaUsers of Strimzi (kafka.strimzi.io/v1), or json',
      )
        .choices(['table', 'lines', 'strimzi', 'json'])
        .default('table'),
    )
    .option(...strimziCluster("Strimzi's users"))
    .action(async (options) =>
      (await import('../../../service/topics/acls.ts')).showAcls(options, process.stdout),
    )

  const all = { yes: 'all topics match the plan', no: 'a topic does not' }
  withSettings(answers(topics.command('create'), all), [...topicSettings, ...keeping])
    .description(
      'Create the missing topics, also for registered guards. Changes no existing topic.',
    )
    .option('--json', 'print one JSON object')
    .action(async (options) => {
      process.exitCode = await (await import('../../../service/topics/topics.ts')).createMissing(
        options,
        process.stdout,
        process.stderr,
      )
    })

  withSettings(answers(topics.command('check'), all), [...topicSettings, ...keeping])
    .description(
      'Compare the topics, also for registered guards, with the plan. Prints each difference with a fix.',
    )
    .option('--json', 'print one JSON object')
    .action(async (options) => {
      process.exitCode = await (await import('../../../service/topics/topics.ts')).checkTopics(
        options,
        process.stdout,
        process.stderr,
      )
    })

  withSettings(topics.command('grow'), [...whichBus, 'topicPrefix', 'partitions'])
    .description(
      "Print the steps to a log with more partitions. Changes nothing: a log's number is fixed.",
    )
    .addHelpText('after', '\nExits with 1, because the topics did not grow.')
    .action(async (flags) => {
      const { refuseToGrow } = await import('../../../service/topics/grow.ts')
      process.exitCode = await refuseToGrow(flags, process.stdout)
    })
}
