// weir demo, and what stands in for a model where its stages run elsewhere.

import type { Command } from 'commander'
import { Option } from 'commander'
import { badModels } from '../demo/reflex-model.ts'
import { settingsOf, whichBus, withSettings } from './flags.ts'

export function addDemo(program: Command): void {
  withSettings(program.command('demo'), [...whichBus, 'topicPrefix', 'agents', 'logLevel', 'partitions', 'synchronous'])
    .description(
      'plays incident I1 twice, through a plain loop and through Weir; needs no key and no broker; on Kafka, over the stages that run there; keeps its log only where --data-folder names a new folder',
    )
    .addOption(new Option('--bad <model>', 'which bad model plays').choices([...badModels]).default('reflex'))
    .action(async (options) => {
      const settings = await settingsOf(options)
      if (settings.bus === 'kafka') return (await import('../demo/over-stages.ts')).runDemoOverStages(options.bad, settings, process.stdout)
      await (await import('../demo/demo.ts')).runDemo({ bad: options.bad, keptIn: options.dataFolder }, settings, process.stdout)
    })

  program
    .command('demo-model', { hidden: true })
    .description('the scripted models of the demo as a service, for stages that run elsewhere: until SIGTERM or SIGINT')
    .option('--host <host>', 'where it listens', '127.0.0.1')
    .option('--port <port>', 'where it listens; 0: on any that is free', '0')
    .action(async (options) => (await import('../demo/model-service.ts')).serveModel(options, process.stdout))
}
