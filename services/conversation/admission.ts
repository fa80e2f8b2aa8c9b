// Admission: refuses a message that cannot open a turn. Such a message would fail each time in the
// same way, so the client gets the reason at once (R6, R8). Caps above the hard ceilings are no
// reason: they are lowered (turn-rules.ts).

import { compiledSchema } from '../../shared/contract/arguments/compiled-schema.ts'
import { contentsFault } from '../../shared/contract/call/contents.ts'
import { conversationIdFault, messageIdFault } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { AgentSettings, Declaration, UserMessage } from '../../shared/contract/messages.ts'
import { isGuest } from '../../shared/contract/topology.ts'
import { settingsFault } from '../../shared/contract/turn/settings-fault.ts'
import { reasons } from '../../shared/contract/turn/turn-texts.ts'

/** The reason to refuse the message. Undefined: none. */
export function refusalOf(message: UserMessage): string | undefined {
  return (
    idRefusal(message) ??
    sizeRefusal(message) ??
    blankRefusal(message) ??
    settingsFault(message.settings) ??
    contentsFault('the message', message.settings.contents) ??
    outputRefusal(message.settings)
  )
}

function idRefusal({ conversation, messageId }: UserMessage): string | undefined {
  if (isGuest(conversation)) return reasons.guestId
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
  const { system, output, context } = message.settings
  const contextBytes = Buffer.byteLength(context ?? '')
  if (contextBytes > limits.recordedContextBytesMax)
    return reasons.settingSize('settings.context', contextBytes, limits.recordedContextBytesMax)
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

/** No reply could fit a schema that cannot be read. */
function outputRefusal({ output }: AgentSettings): string | undefined {
  const compiled = output === null ? undefined : compiledSchema(output)
  return compiled?.kind === 'unusable' ? reasons.unusableOutput(compiled.reason) : undefined
}
