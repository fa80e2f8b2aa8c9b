// weir guard run, register, mode, list, remove.

import { Argument, type Command, Option } from 'commander'
import { endWith } from '../../terminal/ending.ts'
import { guardModes, keeping, listed, settingsOf, whichBus, withSettings } from './flags.ts'

export function addGuard(program: Command): void {
  const guard = program
    .command('guard')
    .description('guards of your own: services that judge calls before they run, with a veto')

  withSettings(guard.command('run'), [
    ...whichBus,
    'topicPrefix',
    'logLevel',
    ...keeping,
    'replicationFactor',
    'healthHost',
    'healthPort',
  ])
    .description(
      'registers a guard and runs it beside the stages until SIGTERM or SIGINT; on Kafka, start it again for a further instance; health and metrics on a port of its own',
    )
    .argument(
      '<guard>',
      'shell or spend, or a file: a module whose default export is a guard, or a function from options to one',
    )
    .addOption(
      new Option(
        '--mode <mode>',
        'for all its tools; default: as registered, and shadow for a new one',
      ).choices(guardModes),
    )
    .option('--options <file>', 'JSON for a guard that is a function of options')
    .option('--replace', 'takes the place of another version of this name')
    .action(async (given, options) =>
      endWith(await (await import('../../service/guards/run.ts')).runGuardProcess(given, options)),
    )

  withSettings(guard.command('register'), [
    ...whichBus,
    'topicPrefix',
    'logLevel',
    ...keeping,
    'replicationFactor',
    'synchronous',
  ])
    .description(
      'puts a guard in force that is run by somebody else, in another language; the same again changes nothing',
    )
    .argument('<name>', '1 to 63 of a-z, 0-9 and -')
    .requiredOption('--version <text>', 'its version, for people')
    .requiredOption(
      '--tools <pattern>',
      'tools that it judges, perhaps with =enforce or =shadow; may be given again for further ones',
      listed,
    )
    .requiredOption(
      '--deadline-ms <milliseconds>',
      'how long a round waits for it where it enforces',
    )
    .addOption(
      new Option('--on-timeout <what>', 'what becomes of its calls when it is silent')
        .choices(['reject', 'allow'])
        .default('reject'),
    )
    .addOption(
      new Option(
        '--mode <mode>',
        'for all its tools; default: as registered, and shadow for a new one',
      ).choices(guardModes),
    )
    .option('--replace', 'takes the place of another version of this name')
    .action(async (name, options) => {
      const settings = await settingsOf(options)
      await (await import('../../service/guards/register.ts')).registerElsewhere(
        name,
        options,
        settings,
        process.stdout,
      )
      const { busKindOf } = await import('../../../shared/bus/kinds.ts')
      const { isLocal, title } = busKindOf(settings)
      if (isLocal)
        process.stderr.write(
          `on ${title} only weir guard run can read and answer: a guard in another language needs Kafka\n`,
        )
    })

  withSettings(guard.command('mode'), [...whichBus, 'topicPrefix', 'logLevel', 'synchronous'])
    .description(
      'switches a guard: enforce, calls wait for it; shadow, its verdicts are recorded and change nothing',
    )
    .argument('<name>', 'the guard')
    .addArgument(new Argument('<mode>').choices(guardModes))
    .option(
      '--tools <pattern>',
      'only for this pattern of tools; may be given again for further ones',
      listed,
    )
    .action(async (name, mode, options) =>
      (await import('../../service/guards/change.ts')).setGuardMode(
        name,
        mode,
        options,
        await settingsOf(options),
        process.stdout,
      ),
    )

  withSettings(guard.command('list'), [...whichBus, 'topicPrefix'])
    .description(
      'the guards that are registered: mode, rounds, rejections, late answers, latency, agreement',
    )
    .option('--since <time>', "counts from then on: 2026-07-29T10:12:03Z, '10m ago'", '24h ago')
    .option('--json', 'one JSON object a line; apps/service/guards/list.ts says what is in it')
    .action(async (options) =>
      (await import('../../service/guards/list.ts')).listGuards(
        options,
        await settingsOf(options),
        process.stdout,
      ),
    )

  withSettings(guard.command('remove'), [...whichBus, 'topicPrefix', 'logLevel', 'synchronous'])
    .description('takes a guard out of force, from the next model response on; its topic stays')
    .argument('<name>', 'the guard')
    .action(async (name, options) =>
      (await import('../../service/guards/change.ts')).removeRegisteredGuard(
        name,
        await settingsOf(options),
        process.stdout,
      ),
    )
}
