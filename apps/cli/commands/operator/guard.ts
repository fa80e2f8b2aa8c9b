// weir guard run, register, mode, list, remove.
// This folder has the commands that change settings in the log. Not here: the changes themselves
// (apps/service).

import { Argument, type Command, Option } from 'commander'
import { guardModes } from '../../../../shared/contract/guard/guard.ts'
import { endWith } from '../../../terminal/text/ending.ts'
import { guardModeOption, keeping, listed, whichBus, withSettings } from '../flags.ts'
import { by, changing, listing, removal, runs } from './setting-commands.ts'

export function addGuard(program: Command): void {
  const guard = program.command('guard')
  addRun(guard)
  addRegister(guard)
  addMode(guard)
  addList(guard)
  removal(guard.command('remove'), 'guard')
}

function addRun(guard: Command): void {
  withSettings(guard.command('run'), [
    ...whichBus,
    'sessionTimeoutMs',
    'groupInstanceId',
    'topicPrefix',
    'logLevel',
    ...keeping,
    'replicationFactor',
    'healthHost',
    'healthPort',
  ])
    .description(
      'Register a guard and run the guard until SIGTERM or SIGINT, with health and metrics. On Kafka, each further start is another instance.',
    )
    .argument(
      '<guard>',
      'flow, once, opa, shell, spend, or a file: a module whose default export is a guard, or a function from options to a guard',
    )
    .addOption(guardModeOption('--mode', 'for all its tools'))
    .option('--options <file>', 'JSON options for a guard that is a function')
    .option('--replace', 'replace another version with this name')
    .action(async (given, options) =>
      endWith(
        await (await import('../../../service/guards/run.ts')).runGuardProcess(given, options),
      ),
    )
}

function addRegister(guard: Command): void {
  const register = withSettings(guard.command('register'), [
    ...whichBus,
    'sessionTimeoutMs',
    'topicPrefix',
    'logLevel',
    ...keeping,
    'replicationFactor',
    'synchronous',
  ])
    .description(
      'Register a guard that runs elsewhere, for example in another language. Repeating the command changes nothing.',
    )
    .argument('<name>', '1 to 63 of a-z, 0-9 and -')
    .requiredOption('--version <text>', 'the version, shown to people')
    .requiredOption(
      '--tools <pattern>',
      'the tools to judge, optionally with =enforce or =shadow; repeat for more',
      listed,
    )
    .requiredOption(
      '--deadline-ms <milliseconds>',
      'how long a round waits for the guard in enforce mode',
    )
    .addOption(
      new Option('--on-timeout <what>', 'the result for its calls if it does not answer in time')
        .choices(['deny', 'allow'])
        .default('deny'),
    )
    .addOption(guardModeOption('--mode', 'for all its tools'))
    .option('--replace', 'replace another version with this name')
  runs(register, async () => (await import('../../../service/guards/register.ts')).registration)
}

function addMode(guard: Command): void {
  const mode = changing(guard.command('mode'))
    .description(
      'Switch a guard. enforce: calls wait for the guard. shadow: verdicts are recorded and change nothing.',
    )
    .argument('<name>', 'the name of the guard')
    .addArgument(new Argument('<mode>').choices(guardModes))
    .option('--tools <pattern>', 'only this pattern of tools; repeat for more', listed)
    .option(...by)
  runs(mode, async () => (await import('../../../service/guards/change.ts')).modeChange)
}

function addList(guard: Command): void {
  const load = async () => (await import('../../../service/guards/list.ts')).guardList
  listing(guard.command('list'), load)
    .description(
      'List the registered guards: mode, rounds, denials, late answers, latency, agreement.',
    )
    .option('--since <time>', "count since this time: 2026-07-29T10:12:03Z, '10m ago'", '24h ago')
}
