// `weir doctor`: the problems of this machine, each with its remedy. Changes nothing and shows no
// secret. Exit codes: 0 nothing is wrong (there may be warnings), 1 something is wrong, 2 it failed.

import { busKindOf } from '../../../shared/bus/kinds.ts'
import { type Settings, type SettingValue, settingKeys } from '../../../shared/settings/settings.ts'
import {
  commandSettings,
  commandSettingsWithOrigins,
  type SettingFlags,
} from '../../terminal/command-settings.ts'
import { columnsOfOutput, painted, type Tone } from '../../terminal/paint.ts'
import { printable } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'
import { wrapped } from '../../terminal/text/word-wrap.ts'
import { partitionsSetBy } from '../service-settings.ts'
import { agentChecks, toolChecks } from './agents.ts'
import { type Check, mistakesIn, ok, skipped } from './check.ts'
import { clusterChecks } from './cluster.ts'
import { folderChecks } from './data-folder.ts'
import { guardedToolChecks } from './guarded-tools.ts'
import { keyFileChecks } from './key-files.ts'
import { clockCheck, nodeCheck } from './machine.ts'
import { mcpChecks } from './mcp-servers.ts'
import { onlineChecks } from './online.ts'
import { sandboxChecks } from './sandboxes.ts'

export type DoctorOptions = { agent?: string; online?: boolean } & SettingFlags

/** Prints a line after each check. Resolves to the exit code. */
export async function doctor(options: DoctorOptions, out: NodeJS.WriteStream): Promise<0 | 1> {
  const states = { wrong: 0, warning: 0 }
  for await (const check of checks(options)) {
    if (check.state === 'wrong' || check.state === 'warning') states[check.state] += 1
    print(check, out)
  }
  out.write(`\n${totalText(states)}\n`)
  return states.wrong === 0 ? 0 : 1
}

/** `Nothing is wrong.`, or `2 things are wrong, and there is 1 warning.` */
function totalText({ wrong, warning }: { wrong: number; warning: number }): string {
  const wrongs =
    wrong === 0
      ? 'Nothing is wrong'
      : `${count(wrong, 'thing')} ${wrong === 1 ? 'is' : 'are'} wrong`
  if (warning === 0) return `${wrongs}.`
  return `${wrongs}, and there ${warning === 1 ? 'is' : 'are'} ${count(warning, 'warning')}.`
}

async function* checks({ agent, online = false, ...flags }: DoctorOptions): AsyncGenerator<Check> {
  yield nodeCheck(process.versions.node)
  const { settings, found } = settingsChecks(flags)
  yield* found
  if (settings === undefined) {
    yield skipped('data folder', 'not checked until the settings are right')
    yield clockCheck(Date.now(), undefined)
  } else {
    const kind = busKindOf(settings)
    yield* kind.isLocal
      ? folderChecks(kind, settings)
      : clusterChecks(kind, settings, partitionsSetBy(flags))
    yield* keyFileChecks(settings)
  }
  const { agents, checks: agentsFound } = agentChecks(agent, process.cwd(), process.env)
  yield* agentsFound
  yield* await toolChecks(agents)
  yield* await mcpChecks(agents)
  if (settings !== undefined) yield* await guardedToolChecks(agents, settings)
  yield* sandboxChecks(agents)
  if (online) yield* await onlineChecks(agents)
}

function settingsChecks(flags: SettingFlags): { settings?: Settings; found: Check[] } {
  try {
    return {
      settings: commandSettings(flags),
      found: [ok('settings', originsText(Object.values(commandSettingsWithOrigins(flags))))],
    }
  } catch (error) {
    return { found: mistakesIn(error, 'settings.invalid', () => 'settings') }
  }
}

function originsText(values: SettingValue[]): string {
  const of = (kind: SettingValue['origin']['kind']) =>
    values.filter(({ origin }) => origin.kind === kind).length
  const given = [
    `${of('flag')} by flags`,
    `${of('environment')} by variables`,
    `${of('file')} by a file`,
  ].filter((part) => !part.startsWith('0'))
  return `${settingKeys.length} settings, ${given.length === 0 ? 'all by default' : `${given.join(', ')}, the others by default`}`
}

const tones: Record<Check['state'], Tone> = {
  ok: 'good',
  warning: 'warning',
  wrong: 'bad',
  skipped: 'faint',
}
const stateColumns = 9
const nameColumns = 13

/** One line for a pipe; on a terminal the text is wrapped in its column. */
function print({ state, name, finding, remedy }: Check, out: NodeJS.WriteStream): void {
  const columns =
    out.isTTY === true
      ? columnsOfOutput(out) - stateColumns - nameColumns
      : Number.POSITIVE_INFINITY
  const [first = '', ...rest] = wrapped(
    printable(remedy === undefined ? finding : `${finding}: ${remedy}`),
    columns,
  )
  out.write(
    `${painted(out, tones[state], state.padEnd(stateColumns))}${name.padEnd(nameColumns)}${first}\n`,
  )
  for (const line of rest) out.write(`${' '.repeat(stateColumns + nameColumns)}${line}\n`)
}
