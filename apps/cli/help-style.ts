// The form of the help of all commands, and the order of the errors about their flags.

import { type Command, Help } from 'commander'

/** The heading of the flags that many commands share. */
export const settingsHeading = 'Settings:'

/**
 * A command's own flags stand first in its help. The help of weir shows names without arguments,
 * because the files of the commands are not loaded.
 */
export const helpStyle: Partial<Help> = {
  subcommandTerm: (command) =>
    command.parent?.parent === null ? command.name() : new Help().subcommandTerm(command),
  groupItems(items, visible, headingOf) {
    const isShared = (item: (typeof items)[number]) => headingOf(item) === settingsHeading
    const ordered = [...items.filter((one) => !isShared(one)), ...items.filter(isShared)]
    return new Help().groupItems(ordered, visible, headingOf)
  },
}

/**
 * Commander reports a missing option before an unknown one. A misspelled option is both, and only
 * the second report suggests the right one.
 */
export function reportMissingLast(command: Command): void {
  const required = command.options.filter(({ mandatory }) => mandatory)
  for (const option of required) option.makeOptionMandatory(false)
  command.hook('preAction', (own, running) => {
    const missing = required.find(
      (option) => own.getOptionValue(option.attributeName()) === undefined,
    )
    if (own === running && missing !== undefined)
      own.error(`error: required option '${missing.flags}' not specified`)
  })
}
