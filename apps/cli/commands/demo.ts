// weir demo, and the demo's model as a server, for stages that run elsewhere.

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
    .addOption(
      new Option('--bad <model>', 'the bad model to play')
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
      const [{ runDemo }, { startDemoProxy }] = await Promise.all([
        import('../../demo/demo.ts'),
        import('../../http/demo-proxy.ts'),
      ])
      await runDemo(
        { bad: options.bad, keptIn: options.dataFolder },
        { settings, startProxy: startDemoProxy },
        process.stdout,
      )
    })

  program
    .command('demo-model')
    .option('--agent <file>', 'write an agent file that uses this model')
    .addOption(
      new Option('--bad <model>', 'the bad model of this agent')
        .choices([...badModels])
        .default('reflex'),
    )
    .option('--force', 'overwrite an existing file')
    .option('--host <host>', 'the host to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on; 0: any free port', '0')
    .action(async (options) =>
      (await import('../../demo/model-service.ts')).serveModel(options, process.stdout),
    )
}
