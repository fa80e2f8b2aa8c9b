// The APIs that the proxy judges. All other paths pass through.

import type { ProxyApi } from './api.ts'
import { chatCompletions } from './chat-completions.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'

export const proxyApis: readonly ProxyApi[] = [messages, chatCompletions, responses]
