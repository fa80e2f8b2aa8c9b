// The APIs under the veto, by the format of their history.

import type { ProxyApi } from '../../api.ts'
import { chatForm } from './chat-form.ts'
import { messagesForm } from './messages-form.ts'
import { responsesForm } from './responses-form.ts'
import type { VetoForm } from './veto-form.ts'

export function vetoFormOf({ path }: ProxyApi): VetoForm | undefined {
  return forms[path]
}

const forms: Record<string, VetoForm> = {
  '/messages': messagesForm,
  '/chat/completions': chatForm,
  '/responses': responsesForm,
}
