// The operator's options for the flow guard, checked at its start.

import type { GuardedCall } from '../../../shared/contract/guard/guard.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { keyFault } from '../../../shared/runtime/guards/key-fault.ts'
import { matchesPattern } from '../../../shared/runtime/guards/tool-pattern.ts'

/** As tools carry them (ToolHints). */
export type FlowLabel = 'reads:private' | 'reads:untrusted' | 'sends:out'

export type FlowGuardOptions = {
  /** Default `flow`. */
  name?: string
  /** Patterns of the tools that it judges. Default: all. */
  tools?: string[]
  /** When all three labels meet: deny the call, or request approval of it. Default `deny`. */
  onMeeting?: 'deny' | 'ask'
  /**
   * Labels by patterns of tool names, next to those that the tools carry: for the tools of guests,
   * and for logs from before there were labels.
   */
  labels?: { [pattern: string]: { reads?: FlowReads | FlowReads[]; sends?: 'out' } }
  /** Hours for which an idle conversation is remembered, 1 to 720. Default 720. */
  rememberedHours?: number
  /** Default 1000. */
  deadlineMs?: number
}

export type FlowReads = 'private' | 'untrusted'

export type FlowRules = {
  tools: string[]
  onMeeting: 'deny' | 'ask'
  rememberedMs: number
  labelsOf(call: GuardedCall): FlowLabel[]
}

const optionNames = Object.keys({
  name: 1,
  tools: 1,
  onMeeting: 1,
  labels: 1,
  rememberedHours: 1,
  deadlineMs: 1,
} satisfies Record<keyof FlowGuardOptions, 1>)

const known: readonly FlowLabel[] = ['reads:private', 'reads:untrusted', 'sends:out']

export function flowRules(options: FlowGuardOptions): FlowRules {
  checkKeys('options', options, optionNames)
  const { tools = ['*'], onMeeting = 'deny', labels = {}, rememberedHours = 720 } = options
  if (!Array.isArray(tools) || tools.length === 0)
    throw invalid('tools', tools, "give it the patterns of the tools, e.g. ['*']")
  if (!['deny', 'ask'].includes(onMeeting))
    throw invalid('onMeeting', onMeeting, "give it 'deny' or 'ask'")
  if (!(rememberedHours >= 1 && rememberedHours <= 720))
    throw invalid('rememberedHours', rememberedHours, 'give it hours from 1 to 720')
  if (typeof labels !== 'object' || labels === null || Array.isArray(labels))
    throw invalid('labels', labels, 'give it an object')
  const byPattern = Object.entries(labels).map(
    ([pattern, given]) => [pattern, labelsIn(pattern, given)] as const,
  )
  return {
    tools,
    onMeeting,
    rememberedMs: rememberedHours * 60 * 60_000,
    labelsOf({ name, declaration }) {
      const given = byPattern.flatMap(([pattern, some]) =>
        matchesPattern(pattern, name) ? some : [],
      )
      // A log from before there were labels has none.
      const own: string[] = declaration.hints?.labels ?? []
      return known.filter((label) => own.includes(label) || given.includes(label))
    },
  }
}

function labelsIn(
  pattern: string,
  given: NonNullable<FlowGuardOptions['labels']>[string],
): FlowLabel[] {
  const name = `labels['${pattern}']`
  if (typeof given !== 'object' || given === null)
    throw invalid(name, given, "give it reads and sends, e.g. { reads: 'private' }")
  checkKeys(name, given, ['reads', 'sends'])
  const { reads = [], sends } = given
  const labels = [
    ...[reads].flat().map((what) => `reads:${what}`),
    ...(sends === undefined ? [] : [`sends:${sends}`]),
  ]
  const usable = known.filter((label) => labels.includes(label))
  if (usable.length === 0 || usable.length < new Set(labels).size)
    throw invalid(name, given, "reads is 'private', 'untrusted' or both, and sends is 'out'")
  return usable
}

function checkKeys(what: string, given: unknown, names: readonly string[]): void {
  const unknown = keyFault(given, names)
  if (unknown !== undefined)
    throw new WeirError('settings.invalid', `the flow guard's ${what} have ${unknown}`)
}

function invalid(option: string, value: unknown, remedy: string): WeirError {
  const shown = JSON.stringify(value)?.slice(0, 200) ?? 'missing'
  return new WeirError('settings.invalid', `the flow guard's ${option} is ${shown}: ${remedy}`)
}
