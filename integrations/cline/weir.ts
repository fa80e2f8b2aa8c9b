// Weir's plug-in for Cline: each call waits for Weir's verdict, and a run without progress ends.
// Cline gives a hook three seconds, and a message builder sixty. A later verdict denies the call at first: its
// question stays open while the next request to the model waits, and an equal call gets the answer.
// CLINE-1. A verdict counts for one call of the same run with the same name and arguments, for a minute.
// CLINE-2. Each hook answers within its time: Cline ends a run whose hook is late, without a reason.

import { type Call, type Judged, type Place, weirHooks } from '../weir-hooks.ts'

type Part = { type: string; text?: string }
type Snapshot = {
  agentId: string
  conversationId?: string
  runId?: string
  messages: readonly { role: string; content: readonly Part[] }[]
}
type Called = {
  snapshot: Snapshot
  toolCall: { toolCallId: string; toolName: string }
  input: unknown
}
type Finished = Called & { result: { output: unknown; isError?: boolean } }
type Builder = { name: string; build(messages: unknown[]): Promise<unknown[]> }
type Question = { call: Call; verdict: Promise<Judged> }

const hookMs = 2_200
const builderMs = 55_000
const verdictMs = 60_000

const late = `Not run yet: Weir has no verdict on this call, because a guard or a person has to decide. \
Your next request waits for the decision. Then make exactly this call again. \
The user finds the question with: npx weir-agents approvals --data-folder ~/.local/state/weir/hooks, \
and decides with: npx weir-agents allow ID --data-folder ~/.local/state/weir/hooks`
const starting = 'Weir is still starting, so this was stopped. Send the prompt again in a minute.'

const weir = weirHooks('cline')
/** The calls without a verdict in time, by their words. */
const questions = new Map<string, Question>()
/** The name that Weir knows for a call with a verdict. Undefined: the call does not run. */
const names = new Map<string, Call | undefined>()
const namesMax = 1_000
/** The reasons why no request may follow, of the prompts without an answer in time. */
const prompts = new Set<Promise<string | undefined>>()

export default {
  name: 'weir',
  manifest: { capabilities: ['hooks', 'messageBuilders'] },

  setup(api: { registerMessageBuilder(builder: Builder): void }): void {
    api.registerMessageBuilder({ name: 'weir', build })
  },

  hooks: {
    async beforeRun({ snapshot }: { snapshot: Snapshot }) {
      const place = placeOf(snapshot)
      const prompt = weir.prompt(place, promptIn(snapshot))
      const answer = await within(
        hookMs,
        prompt.then((reason) => ({ reason })),
      )
      if (answer === undefined) prompts.add(prompt)
      end(answer?.reason)
    },

    async beforeTool({ snapshot, toolCall, input }: Called) {
      const place = placeOf(snapshot)
      const call = callOf(toolCall, input)
      const words = keyOf(place, call.name, call.input)
      const question = questions.get(words) ?? ask(place, call)
      questions.delete(words) // an equal call of the same response asks anew
      const judged = await within(hookMs, question.verdict)
      if (judged === undefined) questions.set(words, question)
      end(judged?.end)
      const deny = judged === undefined ? late : judged.deny
      name(place, call, deny === undefined ? question.call : undefined)
      return deny === undefined ? undefined : { skip: true, reason: deny }
    },

    async afterTool({ snapshot, toolCall, input, result: { output, isError } }: Finished) {
      const place = placeOf(snapshot)
      const key = keyOf(place, toolCall.toolCallId)
      // Cline shows no hook a call with arguments that are no JSON before this one.
      const call = names.has(key) ? names.get(key) : callOf(toolCall, input)
      names.delete(key)
      if (call === undefined) return undefined // Weir has the denial
      const text = typeof output === 'string' ? output : JSON.stringify(output)
      const result = { isError: isError === true || isFailed(output), text }
      const judged = await within(hookMs, weir.after(place, call, result))
      if (judged === undefined) end('Weir did not answer in time, so this run was stopped.')
      end(judged?.end)
      return { appendContext: judged?.advice }
    },

    async afterRun({ snapshot }: { snapshot: Snapshot }) {
      await within(hookMs, weir.stop(placeOf(snapshot)))
    },
  },
}

/** Before each request to the model. */
async function build(messages: unknown[]): Promise<unknown[]> {
  if (prompts.size > 0) {
    const refusals = (await within(builderMs, Promise.all(prompts))) ?? [starting]
    prompts.clear()
    end(refusals.find((reason) => reason !== undefined))
  } else {
    await within(builderMs, Promise.all([...questions.values()].map(({ verdict }) => verdict)))
  }
  return messages
}

/** Keeps CLINE-1. */
function ask(place: Place, call: Call): Question {
  const words = keyOf(place, call.name, call.input)
  const forget = () => {
    if (questions.get(words)?.verdict === verdict) questions.delete(words)
  }
  const verdict = weir.before(place, call).finally(() => setTimeout(forget, verdictMs).unref())
  return { call, verdict }
}

function name(place: Place, { id }: Call, known: Call | undefined): void {
  names.set(keyOf(place, id), known)
  const [oldest] = names.keys()
  if (names.size > namesMax && oldest !== undefined) names.delete(oldest)
}

function placeOf({ agentId, conversationId = agentId, runId }: Snapshot): Place {
  return { session: conversationId, turn: runId }
}

function keyOf({ session, turn }: Place, ...more: unknown[]): string {
  return JSON.stringify([session, turn, ...more])
}

function callOf({ toolCallId: id, toolName: name }: Called['toolCall'], input: unknown): Call {
  return { id, name, input }
}

/** Undefined: not in time. Keeps CLINE-2. */
function within<Value>(ms: number, value: Promise<Value>): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, undefined)
    value.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** A hook that throws ends the run, and Cline shows the error to its user. Its own way to stop shows no reason. */
function end(reason: string | undefined): void {
  if (reason !== undefined) throw new Error(reason)
}

function promptIn({ messages }: Snapshot): string {
  const prompt = messages.findLast(({ role }) => role === 'user')
  return (prompt?.content ?? []).map(({ text = '' }) => text).join('\n')
}

/** The tool for commands reports a failure for each command. */
function isFailed(output: unknown): boolean {
  const results = Array.isArray(output) ? output : []
  return results.length > 0 && results.every((result) => result?.success === false)
}
