// Admission: refuses a message that cannot open a turn. Such a message would fail each time in the
// same way, so the client gets the reason at once (R6, R8). Caps above the hard ceilings are no
// reason: they are lowered (caps.ts).

import { compiledSchema } from '../../shared/contract/arguments/compiled-schema.ts'
import { conversationIdFault, messageIdFault } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { AgentSettings, Declaration, UserMessage } from '../../shared/contract/messages.ts'
import { countThresholds } from '../../shared/contract/thresholds.ts'
import { reasons } from './texts.ts'

/** The reason to refuse the message. Undefined: none. */
export function refusalOf(message: UserMessage): string | undefined {
  return (
    idRefusal(message) ??
    sizeRefusal(message) ??
    blankRefusal(message) ??
    numberRefusal(message.settings) ??
    outputRefusal(message.settings)
  )
}

function idRefusal({ conversation, messageId }: UserMessage): string | undefined {
  return conversationIdFault(conversation) ?? messageIdFault(messageId)
}

function sizeRefusal(message: UserMessage): string | undefined {
  const textBytes = Buffer.byteLength(message.text)
  if (textBytes > limits.userMessageBytesMax) return reasons.textSize(textBytes)
  const agentBytes = Buffer.byteLength(message.agent)
  if (agentBytes > limits.agentNameBytesMax)
    return reasons.settingSize('agent', agentBytes, limits.agentNameBytesMax)
  const fallbackBytes = Buffer.byteLength(message.settings.fallback)
  if (fallbackBytes > limits.fallbackBytesMax)
    return reasons.settingSize('settings.fallback', fallbackBytes, limits.fallbackBytesMax)
  const declarationsBytes = message.declarations.reduce(
    (sum, declaration) => sum + bytesOf(declaration),
    0,
  )
  if (declarationsBytes > limits.agentDeclarationsBytesMax)
    return reasons.declarationsSize(declarationsBytes)
  const { system, output } = message.settings
  const systemBytes = Buffer.byteLength(system ?? '')
  if (systemBytes > limits.questionSystemBytesMax)
    return reasons.settingSize('settings.system', systemBytes, limits.questionSystemBytesMax)
  const outputBytes = Buffer.byteLength(output ?? '')
  if (outputBytes > limits.schemaBytesMax)
    return reasons.settingSize('settings.output', outputBytes, limits.schemaBytesMax)
  const shadowedBytes = message.settings.policy.shadowed.reduce(
    (sum, rule) => sum + Buffer.byteLength(rule) + 1,
    0,
  )
  if (shadowedBytes > limits.shadowedBytesMax)
    return reasons.settingSize('settings.policy.shadowed', shadowedBytes, limits.shadowedBytesMax)
  return undefined
}

/** Bytes of a declaration and of its reference in each request. */
function bytesOf({ name, description, schema }: Declaration): number {
  return 100 + Buffer.byteLength(name) + Buffer.byteLength(description) + Buffer.byteLength(schema)
}

/** Without a fallback, a turn that ends without an answer would give the user nothing (I3). */
function blankRefusal({ agent, settings }: UserMessage): string | undefined {
  if (agent.trim() === '') return reasons.blank('agent')
  if (settings.fallback.trim() === '') return reasons.blank('settings.fallback')
  return undefined
}

type Bound = { of: (settings: AgentSettings) => number | null; min: number; max?: number }

/**
 * A cap below 1 would allow no turn. A threshold below 1 would fire at once. The two waits bound
 * the wait for a cancelled turn.
 */
const bounds: Record<string, Bound> = {
  attempts: { of: (settings) => settings.attempts, min: 1 },
  stallMs: { of: (settings) => settings.stallMs, min: 1 },
  firstByteMs: { of: (settings) => settings.firstByteMs, min: 1 },
  'policy.caps.rounds': { of: ({ policy }) => policy.caps.rounds, min: 1 },
  'policy.caps.calls': { of: ({ policy }) => policy.caps.calls, min: 1 },
  'policy.caps.wallMs': { of: ({ policy }) => policy.caps.wallMs, min: 1 },
  'policy.caps.tokens': { of: ({ policy }) => policy.caps.tokens, min: 1 },
  ...Object.fromEntries(
    countThresholds().map(({ key, min, valueIn }): [string, Bound] => [
      `policy.${key}`,
      { of: ({ policy }) => valueIn(policy), min },
    ]),
  ),
  'policy.startWithinMs': {
    of: ({ policy }) => policy.startWithinMs,
    min: 1,
    max: limits.startWithinMsMax,
  },
  'policy.graceMs': { of: ({ policy }) => policy.graceMs, min: 0, max: limits.graceMsMax },
  'policy.toolTries': { of: ({ policy }) => policy.toolTries, min: 1 },
}

/** No reply could fit a schema that cannot be read. */
function outputRefusal({ output }: AgentSettings): string | undefined {
  const compiled = output === null ? undefined : compiledSchema(output)
  return compiled?.kind === 'unusable' ? reasons.unusableOutput(compiled.reason) : undefined
}

function numberRefusal(settings: AgentSettings): string | undefined {
  for (const [name, { of, min, max }] of Object.entries(bounds)) {
    const value = of(settings)
    if (value === null) continue
    if (!(value >= min)) return reasons.tooLow(`settings.${name}`, value, min)
    if (max !== undefined && value > max) return reasons.tooHigh(`settings.${name}`, value, max)
  }
  return undefined
}
