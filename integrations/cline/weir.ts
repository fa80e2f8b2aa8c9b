// Weir's plug-in for Cline: each call waits for Weir's verdict, and a turn without progress ends. Cline
// gives a hook three seconds, so a person cannot decide within one, and Weir starts with the plug-in.

import { type Judged, weirHooks } from './weir-hooks.ts'

type Message = { role: string; content: { text?: string }[] }
type Snapshot = { agentId: string; conversationId?: string; runId?: string; messages: Message[] }
type Context = { snapshot: Snapshot }
type Called = Context & { toolCall: { toolCallId: string; toolName: string }; input: unknown }
type Finished = Called & { result: { output: unknown; isError?: boolean } }

/** Shorter than the time of a hook, after which Cline ends the run without a text. */
const hookMs = 2_500

const weir = weirHooks('cline', process.env, hookMs)

export default {
  name: 'weir',
  manifest: { capabilities: ['hooks'] },

  setup: () => weir.open(),

  hooks: {
    async beforeRun({ snapshot }: Context) {
      const prompt = snapshot.messages.findLast(({ role }) => role === 'user')
      const texts = prompt?.content.map(({ text = '' }) => text) ?? []
      return stopFor({ end: await weir.prompt(placeOf(snapshot), texts.join('\n')) })
    },

    async beforeTool({ snapshot, toolCall, input }: Called) {
      const judged = await weir.before(placeOf(snapshot), callOf(toolCall, input))
      if (judged.deny === undefined) return undefined
      return { skip: true, reason: judged.deny, ...stopFor(judged) }
    },

    async afterTool({ snapshot, toolCall, input, result }: Finished) {
      const shown = { isError: result.isError === true, text: textOf(result.output) }
      const judged = await weir.after(placeOf(snapshot), callOf(toolCall, input), shown)
      return { ...stopFor(judged), ...(judged.advice && { appendContext: judged.advice }) }
    },
  },
}

/** Cline shows the reason to its user. */
function stopFor({ end }: Judged): { stop?: true; reason?: string } {
  return end === undefined ? {} : { stop: true, reason: end }
}

function placeOf({ agentId, conversationId, runId }: Snapshot) {
  return { session: conversationId ?? agentId, turn: runId }
}

function callOf({ toolCallId: id, toolName: name }: Called['toolCall'], input: unknown) {
  return { id, name, input }
}

function textOf(output: unknown): string {
  return typeof output === 'string' ? output : (JSON.stringify(output) ?? '')
}
