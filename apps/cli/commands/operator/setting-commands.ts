// The parts that the commands for an operator's settings share.

import type { Command } from 'commander'
import { type SettingKind, settingWords } from '../../../../shared/settings/setting-words.ts'
import type { SettingChange, SettingList } from '../../../service/setting-command.ts'
import { notBlank, settingsOf, whichBus, withSettings } from '../flags.ts'

/** The author of a change. */
export const by = [
  '--by <name>',
  'the name to record; default: the user of this system',
  notBlank,
] as const

/** A command that changes one. */
export function changing(command: Command): Command {
  return withSettings(command, [...whichBus, 'topicPrefix', 'logLevel', 'synchronous'])
}

/** Its arguments and options by name. `rename`: for an option with the name of an argument. */
function flagsOf(command: Command, rename: Rename = (options) => options) {
  const values = command.registeredArguments.map((argument, place) => [
    argument.name(),
    command.processedArgs[place],
  ])
  return { ...rename(command.opts()), ...Object.fromEntries(values) }
}

type Rename = (options: Record<string, unknown>) => object

/** `load`: gets the change that the command runs. */
export function runs<Flags, Input, Done>(
  command: Command,
  load: () => Promise<SettingChange<Flags, Input, Done>>,
  rename?: Rename,
): void {
  command.action(async () => {
    const flags = flagsOf(command, rename)
    const { changeSetting } = await import('../../../service/setting-command.ts')
    await changeSetting(await load(), flags, await settingsOf(flags))
  })
}

/** `load`: gets the list that the command prints. `type`: the place of the type of its JSON. */
export function listing<Options, Item>(
  command: Command,
  ...[load, rename]: [(options: Options) => Promise<SettingList<Options, Item>>, Rename?]
): Command {
  return withSettings(command, [...whichBus, 'topicPrefix'])
    .option('--json', 'print one JSON object per line')
    .action(async () => {
      const flags = flagsOf(command, rename)
      const { listSettings } = await import('../../../service/setting-command.ts')
      await listSettings(await load(flags), flags, await settingsOf(flags))
    })
}

/** The command that removes a setting of this kind by its id. */
export function removal(command: Command, kind: SettingKind): void {
  const { argument, help } = settingWords[kind]
  changing(command)
    .description(help)
    .argument(...argument)
    .option(...by)
  const load = async () => (await import('../../../service/setting-command.ts')).removalOf(kind)
  runs(command, load, (options) => ({ ...options, id: command.args[0] }))
}
