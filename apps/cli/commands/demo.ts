// weir demo, and what stands in for a model where its stages run elsewhere.

import { type Command, Option } from 'commander'
import { badModels } from '../../demo/reflex-model.ts'
import { settingsOf, whichBus, withSettings } from './flags.ts'

export function addDemo(program: Command): void {
  withSettings(program.command('demo'), [
    ...whichBus,
    'topicPrefix',
    'agents',
    'logLevel',
    'partitions',
    'synchronous',
  ])
    .description(
      'plays incident I1 twice, through a plain loop and through Weir; needs no key and no broker; on Kafka, over the stages that run there; keeps its log only where --data-folder names a new folder',
    )
    .addOption(
      new Option('--bad <model>', 'which bad model plays')
        .choices([...badModels])
        .default('reflex'),
    )
    .action(async (options) => {
      const settings = await settingsOf(options)
      const { busKindOf } = await import('../../../shared/bus/kinds.ts')
      if (!busKindOf(settings).isLocal)
        return (await import('../../demo/over-stages.ts')).runDemoOverStages(
          options.bad,
          settings,
          process.stdout,
        )
      await (await import('../../demo/demo.ts')).runDemo(
        { bad: options.bad, keptIn: options.dataFolder },
        settings,
        process.stdout,
      )
    })

  program
    .command('demo-model')
    .description(
      "the demo's model as a server, until Ctrl-C: to try weir ask without a key, and for stages that run elsewhere",
    )
    .option('--agent <file>', 'writes an agent file that asks it')
    .addOption(
      new Option('--bad <model>', 'which bad model this agent has')
        .choices([...badModels])
        .default('reflex'),
    )
    .option('--force', 'writes over a file that is there')
    .option('--host <host>', 'where it listens', '127.0.0.1')
    .option('--port <port>', 'where it listens; 0: on any that is free', '0')
    .action(async (options) =>
      (await import('../../demo/model-service.ts')).serveModel(options, process.stdout),
    )
}
