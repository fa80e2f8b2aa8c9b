// Incident I4 through each adapter with Weir's own stages: a model that thinks, and says nothing. The
// AI SDK and LangChain end a run there, so their host runs the agent again on the same messages.

import { afterEach, describe, expect, it } from '@jest/globals'
import { type GuardSession, openGuard } from '../../../client/guard/guard.ts'
import { type Adapter, adapters } from './adapters.ts'
import type { Scripts } from './agent.ts'
import { runOpenAIAgents } from './openai-agents-agent.ts'

let guard: GuardSession | undefined
afterEach(() => guard?.close())

type Answers = Scripts['answers']
/** A new call, then silence, and so on. */
const alternates: Answers = (n) => (n % 2 === 1 ? [[`c${n}`, `{"command":"ls ${n}"}`]] : [])

describe.each<Pick<Adapter, 'name' | 'run'>>([
  ...adapters,
  {
    name: 'OpenAI Agents, with answers that leave no item,',
    run: (conversation, scripts) => runOpenAIAgents('run', conversation, scripts, []),
  },
])('on $name a model that says nothing', ({ run }) => {
  async function play(answers: Answers) {
    guard = await openGuard({ agent: 'ops' })
    const result = (command: string) => `ran ${command}`
    const scripts = { answers, result, repeats: 60, steps: 200 }
    const { text, requests } = await run(guard.conversation('t1'), scripts)
    return [requests.length, text]
  }

  it.each<[string, number, Answers]>([
    ['from the beginning on, after two reminders', 4, () => []],
    ['after a call, after three reminders', 6, (n) => (n === 1 ? alternates(1) : [])],
    ['between new calls, after ten reminders', 23, alternates],
  ])('is ended by Weir in a text: %s', async (_, requests, answers) => {
    expect(await play(answers)).toEqual([requests, expect.stringMatching(/no visible text/)])
  })

  it('may go on after a reminder, and its reply is the end', async () => {
    expect(await play((n) => (n < 4 ? alternates(n) : 'a.ts'))).toEqual([4, 'a.ts'])
  })
})
