// Warnings about the scope of a setting that nothing in the log has: a wrong name has no effect.

import type { OperatorStop } from '../../shared/contract/messages.ts'
import { agentInLog, conversationInLog, tenantInLog, toolInLog } from '../history/agents-in-log.ts'
import { unseenNameText, unseenTenantText, unseenText } from './policy/layers.ts'

/** Undefined: there is nothing to report. */
export async function unseenScope(
  { scope, name }: Pick<OperatorStop, 'scope' | 'name'>,
  log: Parameters<typeof agentInLog>[1],
): Promise<string | undefined> {
  switch (scope) {
    case 'all':
      return undefined
    case 'agent':
      return unseenText(name, await agentInLog(name, log))
    case 'tenant':
      return unseenTenantText(name, await tenantInLog(name, log))
    case 'tool':
      return unseenNameText('no offer of a tool', name, await toolInLog(name, log))
    case 'conversation':
      return unseenNameText('no conversation', name, await conversationInLog(name, log))
  }
}
