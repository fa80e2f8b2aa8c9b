// Isolated tools of defineTool: their process loads this file.

import { z } from 'zod'
import { defineTool, Weir } from '../../../client/weir.ts'

export const whereami = defineTool({
  name: 'whereami',
  description: 'names its process',
  isolated: true,
  parameters: z.object({ word: z.string().transform((word) => word.toUpperCase()) }),
  needsContext: z.object({ userId: z.string() }),
  run: ({ word }, { context }) => ({ word, pid: process.pid, userId: context.userId }),
})

export const nested = defineTool({
  name: 'nested',
  description: 'opens Weir',
  isolated: true,
  parameters: { type: 'object' },
  run: () => Weir.open({ agents: [] }),
})
