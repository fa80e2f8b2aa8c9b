// A gateway with one agent before a server on this machine: the real SDKs, performer and reducer.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { foldResponse } from '../../../services/accumulator/response.ts'
import { startGateway } from '../../../services/llm-gateway/performer/performer.ts'
import { connectOnce } from '../../../services/llm-gateway/performer/providers/providers.ts'
import { llmGateway } from '../../../services/llm-gateway/reducer.ts'
import type { Agent } from '../../../shared/agents/agents.ts'
import type {
  AttemptFailed,
  AttemptFinished,
  HistoryEntry,
  ModelFinished,
  ModelRequest,
  PartEvent,
  Response,
} from '../../../shared/contract/messages.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { at, given } from '../../support/given.ts'
import { modelRequest } from '../../support/messages.ts'
import { noBudgets } from '../../support/no-budgets.ts'
import { agentOf } from './samples.ts'
import { textAnswer, vendorNamed } from './vendors.ts'

export type Api = Agent['model']['provider']
/** A request as the server gets it. */
export type Body = {
  tools?: unknown[]
  tool_choice?: unknown
  messages?: Record<string, unknown>[]
  input?: Record<string, unknown>[]
}
export type Refusal = { status: number; message: string } | undefined

const servers: Server[] = []

/** For `afterEach` of each file with gateways. */
export async function closeServers(): Promise<void> {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

/** `response`: undefined if the round failed. */
export type Round = {
  failed: AttemptFailed[]
  end: ModelFinished
  response: Response | undefined
}

type Options = {
  api: Api
  /** Refuses a request, or returns undefined. */
  refuse?: (body: Body) => Refusal
  /** The body of the answer; default: a text. */
  answer?: (body: Body) => string
  model?: Partial<Agent['model']>
}

/** `bodies`: the requests. `ask` plays a whole round of this history with the real reducer. */
export function gatewayBefore({ api, refuse, answer, model }: Options): {
  bodies: Body[]
  ask: (history: HistoryEntry[], fields?: Partial<ModelRequest>) => Promise<Round>
} {
  const bodies: Body[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse((await request.toArray()).join('')) as Body
    bodies.push(body)
    const refusal = refuse?.(body)
    if (refusal === undefined)
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(answer?.(body) ?? textAnswer(vendorNamed(api), 'Here.'))
    else
      response
        .writeHead(refusal.status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message: refusal.message } }))
  })
  servers.push(server)
  const listening = new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const gateway = listening.then(() => {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const agent = agentOf({}, { provider: api, baseUrl, ...model })
    return startGateway({
      echoOf: () => null,
      agents: new Map([[agent.name, agent]]),
      connect: connectOnce(),
    })
  })

  async function ask(history: HistoryEntry[], fields: Partial<ModelRequest> = {}): Promise<Round> {
    let heard = Promise.withResolvers<AttemptFailed | AttemptFinished>()
    const parts = new Map<string, PartEvent[][]>()
    const startPerformer = await gateway
    const performer = startPerformer({
      ...contextOf(history, () => `id${bodies.length}`),
      async write(_, messages) {
        for (const message of messages) {
          if (message.type === 'part')
            parts.set(message.attempt, [...(parts.get(message.attempt) ?? []), message.events])
          if (message.type === 'attempt-failed' || message.type === 'attempt-finished')
            heard.resolve(message)
        }
        return []
      },
    })
    const request = modelRequest({
      expiresAt: Date.now() + 60_000,
      settings: { ...modelRequest().settings, attempts: 1 },
      ...fields,
    })
    let round = given(llmGateway, at(1, request))
    const failed: AttemptFailed[] = []
    while (round.wants.length > 0) {
      heard = Promise.withResolvers()
      performer.reconcile('u', round.wants)
      performer.acknowledged?.()
      const message = await heard.promise
      if (message.type === 'attempt-failed') failed.push(message)
      round = round.when(at(2, message))
      if (round.wants.length === 0 && round.state !== undefined)
        round = round.when(at(round.due ?? 0, tickOf(request)))
    }
    await performer.close('shutdown')
    const end = round.to('response')[0] as ModelFinished
    const offered = request.tools.map(({ name }) => name)
    const response =
      end.failure === null
        ? foldResponse(parts.get(end.attempt) ?? [], end, offered).response
        : undefined
    return { failed, end, response }
  }

  return { bodies, ask }
}

function tickOf(request: ModelRequest) {
  return { type: 'tick', conversation: 'c', unit: llmGateway.unit(request) } as const
}

function contextOf(
  history: HistoryEntry[],
  randomId: () => string,
): Omit<PerformerContext, 'write'> {
  return {
    owner: 'owner',
    partition: 0,
    clock: systemClock,
    formerOwnersDead: false,
    randomId,
    log: createLog({ level: 'silent' }),
    history: async () => history,
    policy: async () => undefined,
    policies: async () => [],
    async *guardVerdicts() {},
    budgets: noBudgets,
    kept: async () => undefined,
    historyTable: { logTime: () => undefined, keys: async () => [], forget: async () => {} },
  }
}
