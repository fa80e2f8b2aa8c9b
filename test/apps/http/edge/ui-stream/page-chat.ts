// The chat of a page with useChat, in Node: the AI SDK's own class with a plain state.

import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  type ChatStatus,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai'
import { waitMaxMs } from '../../../../support/wait-limit.ts'

export class PageChat extends AbstractChat<UIMessage> {
  readonly #listeners: Set<() => void>

  /** `url`: of the server. `messages`: that the page has stored. */
  constructor(
    url: string,
    {
      id = 'c1',
      messages = [],
      ...more
    }: { id?: string; messages?: UIMessage[] } & Pick<
      ChatInit<UIMessage>,
      'sendAutomaticallyWhen' | 'onToolCall' | 'transport'
    > = {},
  ) {
    const listeners = new Set<() => void>()
    let status: ChatStatus = 'ready'
    const state: ChatState<UIMessage> = {
      get status() {
        return status
      },
      set status(next) {
        status = next
        for (const listener of listeners) listener()
      },
      error: undefined,
      messages,
      pushMessage(message) {
        state.messages = [...state.messages, message]
        for (const listener of listeners) listener()
      },
      popMessage() {
        state.messages = state.messages.slice(0, -1)
      },
      replaceMessage(index, message) {
        state.messages = state.messages.with(index, structuredClone(message))
        for (const listener of listeners) listener()
      },
      snapshot: structuredClone,
    }
    super({
      id,
      state,
      transport: new DefaultChatTransport({ api: `${url}/v1/ui-stream` }),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      ...more,
    })
    this.#listeners = listeners
  }

  /** Resolves when the page shows it. */
  async until(isShown: () => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const check = () => {
      if (isShown()) resolve()
      else if (this.status === 'error') reject(this.error)
    }
    this.#listeners.add(check)
    const timer = setTimeout(() => reject(new Error(`${JSON.stringify(this.messages)}`)), waitMaxMs)
    check()
    try {
      await promise
    } finally {
      clearTimeout(timer)
      this.#listeners.delete(check)
    }
  }

  /** The last message, without its steps and Weir's data. */
  get shown() {
    const parts = this.lastMessage?.parts ?? []
    return parts.filter(({ type }) => type !== 'step-start' && !type.startsWith('data-'))
  }
}
