// Findings of calls whose tool cannot run with any arguments: it was not offered, or its arguments
// cannot be judged (R6).

import { listed, quoted } from '../../shared/contract/arguments/name-text.ts'
import { nameFault, nearestNames } from '../../shared/contract/arguments/tool-name.ts'
import * as texts from '../../shared/model-texts/arguments.ts'
import type { Finding } from './directive.ts'

/**
 * `name`: the name in the call, which has no declaration or is not a proper name. `offered`: the
 * tools that this request offered.
 */
export function unknownTool(name: string, offered: string[]): Finding {
  const tools =
    offered.length === 0 ? texts.noToolOffered : texts.toolsOffered(listed(offered.map(quoted)))
  const near = nearestNames(name, offered)
  const notes = near.length === 0 ? [tools] : [texts.didYouMean(listed(near.map(quoted))), tools]
  switch (nameFault(name)) {
    case 'blank':
      return {
        code: 'unknown_tool',
        reason: 'the call names no tool',
        unknown: 'tool',
        notes: [tools],
      }
    case 'invisible':
      return {
        code: 'unknown_tool',
        reason: `the tool name ${quoted(name)} has control characters`,
        unknown: 'tool',
        notes,
      }
    case undefined:
      // The gateway sends the declaration of each offered tool that is called. Without it the call
      // cannot be judged.
      if (offered.includes(name)) return unusableSchema(name, 'its declaration is missing')
      return {
        code: 'unknown_tool',
        reason: `unknown tool ${quoted(name)}`,
        unknown: 'tool',
        notes,
      }
  }
}

/** `why`: the fault of the schema. */
export function unusableSchema(name: string, why: string): Finding {
  return {
    code: 'unusable_schema',
    reason: `the schema of tool ${quoted(name)} cannot be used`,
    detail: why,
    unknown: 'tool',
    notes: [texts.badDeclaration],
  }
}
