// The words for each kind of an operator's settings: commands, their help and the console's page take
// them from here. The page loads this file, so it imports nothing else.

import { shellWord } from '../lib/text/shell-word.ts'

export type SettingWords = {
  /** A verb in the imperative, and its participle. */
  remove: string
  removed: string
  /** The command that removes one, its argument, and its help. */
  command: string
  argument: readonly [string, string]
  help: string
  /** A clause: the effect of a removal. */
  effect: (id: string) => string
}

export const settingWords = {
  stop: {
    remove: 'Release',
    removed: 'released',
    command: 'weir release',
    argument: ['<id>', 'the id that weir stops shows, such as agent:bank'],
    help: 'Release a stop. New questions run again, and turns that have ended stay ended.',
    effect: (id) =>
      id.startsWith('tool:')
        ? 'its calls run again'
        : 'new questions run again, and turns that have ended stay ended',
  },
  budget: {
    remove: 'Remove',
    removed: 'removed',
    command: 'weir budget remove',
    argument: ['<id>', 'the id that weir budget list shows, such as acme/tenant/day/usd'],
    help: 'Remove a budget, effective from the next model request.',
    effect: () => 'nothing is limited by it from the next model request on',
  },
  guard: {
    remove: 'Remove',
    removed: 'removed',
    command: 'weir guard remove',
    argument: ['<name>', 'the name of the guard'],
    help: 'Remove a guard, effective from the next model response. Keeps its topic.',
    effect: () => 'rounds that wait for it already wait until its deadline',
  },
  policy: {
    remove: 'Unset',
    removed: 'unset',
    command: 'weir policy unset',
    argument: ['<agent>', "the agent's name, or '*' for the values for all agents"],
    help: 'Remove set values. The values of the agent file apply again.',
    effect: () => 'the values of the agent file apply again from the next model response on',
  },
} satisfies Record<string, SettingWords>

export type SettingKind = keyof typeof settingWords

export const settingKinds = Object.keys(settingWords) as SettingKind[]

/** The command that removes this one. */
export function removalCommand(kind: SettingKind, id: string): string {
  return `${settingWords[kind].command} ${shellWord(id)}`
}
