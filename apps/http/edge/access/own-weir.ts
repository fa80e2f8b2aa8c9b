// Weir for one principal: the only way from a request to the log.
// An id of another tenant throws before anything is read or written. So a fault in a map
// or a digest cannot show a tenant the conversation of another tenant.

import type { Weir } from '../../../../client/weir.ts'
import type { ConversationId } from '../../../../shared/contract/ids.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { conversationFor, type Principal, shownConversation, withoutContext } from './principal.ts'

export type EdgeWeir = Omit<Weir, 'close' | 'http' | typeof Symbol.asyncDispose>

/** `approvals` has the calls of the principal's tenant, and `allow` and `deny` know no others. */
export function ownWeir(weir: EdgeWeir, principal: Principal): EdgeWeir {
  const { tenant, context, user } = principal
  if (context !== undefined) return ownWeir(withContext(weir, context), withoutContext(principal))
  const ask: EdgeWeir['ask'] = (question) =>
    weir.ask(user === undefined ? question : { ...question, user })
  if (tenant === null) return user === undefined ? weir : { ...weir, ask }
  const assertOwn = (id = ''): ConversationId => {
    shownConversation(principal, id)
    return id
  }

  return {
    agents: weir.agents,
    failed: weir.failed,
    ask(question) {
      assertOwn(question.conversation)
      return ask(question)
    },
    async cancel(message) {
      assertOwn(message.conversation)
      await weir.cancel(message)
    },
    async conversations() {
      throw new WeirError('runtime.assertion', 'the list of conversations has all tenants')
    },
    conversation: (id) => weir.conversation(assertOwn(id)),
    async forget(options) {
      if (!('conversation' in options))
        throw new WeirError('runtime.assertion', 'a request deletes one conversation')
      assertOwn(options.conversation)
      return weir.forget(options)
    },
    approvals: async () =>
      (await weir.approvals()).filter(
        (call) => conversationFor(principal, call.conversation) !== undefined,
      ),
    allow: (id, decision) => weir.allow(id, { ...decision, tenant }),
    deny: (id, decision) => weir.deny(id, { ...decision, tenant }),
  }
}

/** The questions of a user of the program carry the user's context. */
function withContext(weir: EdgeWeir, { value, record }: Required<Principal>['context']): EdgeWeir {
  return { ...weir, ask: (question) => weir.ask({ ...question, context: value, record }) }
}
