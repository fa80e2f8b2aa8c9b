// Commands for the settings of an operator, each as one record: a change or a list. The console's
// routes run the records of changes too.
// All flags are checked before the log is opened.

import { personHere } from '../../services/approval/performer/person.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import type { Registry } from '../../shared/runtime/guards/guard-registry.ts'
import { removeStored } from '../../shared/runtime/settings/operator-setting.ts'
import { type SettingKind, settingWords } from '../../shared/settings/setting-words.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { type OpenLog, withLog } from '../history/open-log.ts'
import { withExistingRegistry, withRegistry } from '../history/registry.ts'
import { processStreams, type Streams } from '../terminal/streams.ts'
import { printable, printableJson } from '../terminal/text/printable.ts'
import { withIntake } from './conversations/with-intake.ts'
import { operatorSettings } from './operator-settings.ts'

export type SettingTable = Registry & { bus: Bus }

/** `by`: the author's name. */
export type ChangeContext = { by: string; settings: Settings }

/** `Flags`: the arguments and options of the command, by name. */
export type SettingChange<Flags, Input, Done> = {
  /** Throws `usage`, and other errors about the flags. */
  read(flags: Flags): Input
  write(table: SettingTable, input: Input, context: ChangeContext): Promise<Done>
  /** The effect, for people. */
  lines(done: Done, settings: Settings): readonly string[]
  /** The effect for `--json`. */
  json?(done: Done): readonly object[]
  /** Lines for standard error. The setting is in force already. */
  notes?(done: Done, context: ChangeContext & { table: SettingTable }): Notes | Promise<Notes>
  /** The setting may be the first record of a log. Default: a missing log is an error. */
  createsLog?: true
  /** The stage intake takes the change, so it must run. */
  sendsToIntake?: true
}

type Notes = readonly (string | undefined)[]

type Common = { by?: string; json?: boolean }

export async function changeSetting<Flags, Input, Done>(
  change: SettingChange<Flags, Input, Done>,
  flags: Flags & Common,
  settings: Settings,
  { out, errors }: Omit<Streams, 'input'> = processStreams(),
): Promise<void> {
  const { by = personHere(), json = false } = flags
  const input = change.read(flags)
  const opened = openerOf(change)
  const context = { by, settings }
  const { done, notes } = await opened(settings, async (table) => {
    const done = await change.write(table, input, context)
    return { done, notes: (await change.notes?.(done, { ...context, table })) ?? [] }
  })
  if (json && change.json !== undefined)
    for (const object of change.json(done)) out.write(`${printableJson(object)}\n`)
  else for (const line of change.lines(done, settings)) out.write(`${printable(line)}\n`)
  for (const note of notes) if (note !== undefined) errors.write(`${note}\n`)
}

function openerOf({
  createsLog,
  sendsToIntake,
}: Pick<SettingChange<unknown, unknown, unknown>, 'createsLog' | 'sendsToIntake'>) {
  if (sendsToIntake === true) return withIntake
  return createsLog === true ? withRegistry : withExistingRegistry
}

/** Undefined: there is nothing to warn of. */
export function warning(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `weir: warning: ${text}`
}

/** Removes a setting of this kind. Throws the setting's error for an unknown id. */
export function removalOf(kind: SettingKind): SettingChange<{ id: string }, string, string> {
  const { removed, effect } = settingWords[kind]
  return {
    read: ({ id }) => id,
    async write(table, id, { by }) {
      await removeStored(operatorSettings[kind], table, { id, by })
      return id
    },
    lines: (id) => [`${id} is ${removed}: ${effect(id)}`],
  }
}

export type SettingList<Options, Item> = {
  /** Checks the options, and returns the reader of the log. */
  read(options: Options): (log: OpenLog) => Promise<readonly Item[]>
  /** The object of `--json`. Default: the item. */
  json?(item: Item): object
  /** Printable lines, in the colours of the stream. */
  lines(item: Item, out: NodeJS.WriteStream): readonly string[]
  /** The line of an empty list. */
  none: string
}

/** Changes nothing, and works next to a running Weir. */
export async function listSettings<Options, Item>(
  list: SettingList<Options, Item>,
  options: Options & Pick<Common, 'json'>,
  settings: Settings,
  out: NodeJS.WriteStream = process.stdout,
): Promise<void> {
  const items = await withLog(settings, list.read(options))
  if (options.json === true)
    for (const item of items) out.write(`${printableJson(list.json?.(item) ?? item)}\n`)
  else if (items.length === 0) out.write(`${list.none}\n`)
  else for (const item of items) out.write(`${list.lines(item, out).join('\n')}\n`)
}
