// The chunks of the AI SDK's UI message stream v1, with the data that Weir adds. Tools are `dynamic`:
// the page does not know them. Weir runs them (`providerExecuted`), unless they are tools of the page.

import type { UIMessageChunk } from 'ai'
import type { InterventionData, TurnData } from '../chat/turn-data.ts'

export type UiChunk = UIMessageChunk<
  unknown,
  { 'weir-intervention': InterventionData; 'weir-turn': TurnData }
>
