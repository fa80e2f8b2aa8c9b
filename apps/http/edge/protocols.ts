// The protocols of the edge, in order. A new one is its own files and one line here.

import { agUiProtocol } from './ag-ui/ag-routes.ts'
import { chatProtocol } from './chat-completions/chat-routes.ts'
import type { Protocol } from './edge-context.ts'
import { nativeProtocol } from './native/native-routes.ts'
import { responsesProtocol } from './responses/response-routes.ts'
import { uiStreamProtocol } from './ui-stream/ui-routes.ts'

export const protocols: readonly Protocol[] = [
  nativeProtocol,
  chatProtocol,
  responsesProtocol,
  uiStreamProtocol,
  agUiProtocol,
]
