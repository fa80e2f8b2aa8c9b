// The APIs under the veto, by the format of their history.

import type { ModelFormat } from '../../../../../../shared/wire/formats.ts'
import { chatForm } from './chat-form.ts'
import { messagesForm } from './messages-form.ts'
import { responsesForm } from './responses-form.ts'
import type { VetoForm } from './veto-form.ts'

export function vetoFormOf({ request: { routes } }: ModelFormat): VetoForm | undefined {
  return forms[routes[0]?.end ?? '']
}

const forms: Record<string, VetoForm> = {
  '/messages': messagesForm,
  '/chat/completions': chatForm,
  '/responses': responsesForm,
}
