// The types of the package, as a program sees them. `make types` finds the mistakes. The test only
// shows that this file is part of the check.

import { expect, it } from '@jest/globals'
import {
  type Agent,
  type Agents,
  type ErrorCode,
  loadAgents,
  type Model,
  type Question,
  type Turn,
  type TurnEvent,
  type TurnFinished,
  type TurnOutcome,
  Weir,
  WeirError,
  type WeirOptions,
} from '../../client/weir.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>): void => {}

type Types = TurnEvent['type']

/** Never called. */
async function program(weir: Weir, error: unknown): Promise<string> {
  same<ReturnType<typeof Weir.open>, Promise<Weir>>(true)
  same<Parameters<typeof Weir.open>, [WeirOptions]>(true)
  same<ReturnType<typeof loadAgents>, Agents>(true)
  same<Agents, ReadonlyMap<string, Agent>>(true)
  same<Agent['model'], Model>(true)
  same<Model['provider'], 'anthropic' | 'openai-chat' | 'openai-responses' | 'gemini'>(true)
  same<typeof weir.failed, Promise<never>>(true)

  await Weir.open({ agents: 'agents' })
  const [agent] = weir.agents.values()
  if (agent !== undefined) {
    await Weir.open({ agents: new Map([['mine', agent]]) })
    const unknown = { ...agent, model: { ...agent.model, provider: 'openai' } } as const
    // @ts-expect-error no provider has this name
    const mine: Agent = unknown
    // @ts-expect-error nor does an agent with it open Weir
    await Weir.open({ agents: new Map([['mine', unknown]]) })
    same<typeof mine, Agent>(true)
  }
  await Weir.open({
    agents: loadAgents('agent.yaml'),
    dataFolder: 'data',
    synchronous: 'full',
    partitions: 1,
    topicPrefix: '',
  })
  const kafka = {
    kind: 'kafka',
    bootstrapServer: 'host:9092',
    commandConfig: 'client.properties',
    properties: { 'client.id': 'me' },
  } as const
  await Weir.open({ agents: 'agents', bus: kafka, stages: 'here' })
  await Weir.open({ agents: 'agents', bus: { kind: 'embedded' } })
  // @ts-expect-error the file's bus has no brokers
  await Weir.open({ agents: 'agents', bus: { kind: 'embedded', bootstrapServer: 'host:9092' } })
  // @ts-expect-error there is no Weir without agents
  await Weir.open({})
  // @ts-expect-error not one of the allowed words
  await Weir.open({ agents: 'agents', synchronous: 'sometimes' })

  same<Parameters<Weir['ask']>, [Question]>(true)
  const turn: Turn = weir.ask({
    agent: 'agent',
    text: 'hello',
    conversation: 'c',
    messageId: 'm',
    signal: AbortSignal.timeout(1_000),
  })
  // @ts-expect-error a message has a text
  weir.ask({ agent: 'agent' })
  // @ts-expect-error a message's id is not a conversation's
  weir.ask({ agent: 'agent', text: 'hello', conversation: turn.messageId })
  // @ts-expect-error a turn keeps its ids
  turn.conversation = 'other'

  same<
    Types,
    | (
        | 'turn-waiting'
        | 'turn-started'
        | 'round-started'
        | 'text-delta'
        | 'reasoning-delta'
        | 'text-reset'
        | 'model-retry'
        | 'budget-reached'
        | 'model-waiting'
        | 'model-answered'
      )
    | ('call-denied' | 'intervention-raised' | 'calls-waiting' | 'guard-verdict-given')
    | ('approval-pending' | 'approval-decided')
    | ('tool-started' | 'call-offered' | 'call-finished' | 'turn-finished')
  >(true)
  for await (const event of turn) {
    same<typeof event, TurnEvent>(true)
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
        same<typeof event.text, string>(true)
        break
      case 'call-finished':
        same<typeof event.durationMs, number>(true)
        break
      case 'turn-finished':
        same<typeof event.totals, TurnFinished['totals']>(true)
        break
      case 'model-answered':
        same<(typeof event.calls)[number]['arguments'], Record<string, unknown> | null>(true)
        break
      case 'tool-started':
        same<typeof event.rawArguments, string>(true)
        break
      case 'turn-started':
        // @ts-expect-error it has no text
        event.text
        break
      default:
        event.conversation satisfies string
        weir.ask({ agent: 'agent', text: 'hello', conversation: event.conversation })
    }
  }
  same<TurnOutcome, 'answered' | 'capped' | 'failed' | 'cancelled'>(true)
  if (error instanceof WeirError) same<typeof error.code, ErrorCode>(true)
  await turn.cancel()
  await weir.cancel(turn)
  await weir.close()
  return (await turn.finished).reply
}

it('compiles a program against the types of the package', () => {
  expect(program).toHaveLength(2)
  expect(Object.keys(Weir)).toEqual(['open'])
  expect(new WeirError('bus.locked', 'in use')).toBeInstanceOf(Error)
})
