// The conversation with Weir as a program uses it: the package's functions, a tool in the process,
// and every event of the turn read. The log is a file with the default settings.

import { defineAgent, defineTool, openaiChat, Weir } from '../../client/weir.ts'
import { maxOutputTokens, question, system, tool } from './agent-loop-conversation.ts'
import { countArticles, parameters } from './library-tool.ts'
import type { Loop } from './measured-loop.ts'

export async function openWeirLibrary(
  url: string,
  dataFolder: string,
  options: { encryptionKeys?: string } = {},
): Promise<Loop> {
  const { name, description } = tool
  const agent = defineAgent({
    name: 'bench',
    model: openaiChat('bench', { baseUrl: url, apiKey: 'none', maxOutputTokens }),
    system,
    tools: [defineTool({ name, description, parameters, run: countArticles })],
  })
  const weir = await Weir.open({ agents: [agent], dataFolder, ...options })
  return {
    async converse(conversation, onText) {
      const turn = weir.ask({ agent, text: question, conversation })
      for await (const event of turn) if (event.type === 'text-delta') onText?.(event.text)
      const { outcome, reason, reply } = await turn.finished
      if (outcome !== 'answered') throw new Error(`${conversation} ended ${outcome}: ${reason}`)
      return reply
    },
    close: () => weir.close(),
  }
}
