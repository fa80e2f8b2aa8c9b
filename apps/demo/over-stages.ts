// `weir demo --bus kafka`: incident I1 through a plain loop in this process, then through stages
// that run elsewhere. The model is a service that this process and the gateway can both reach
// (model-service.ts); agent files say where, the same ones for gateway, executor and this process.

import { randomBytes } from 'node:crypto'
import { openEdge } from '../../client/edge.ts'
import { openBus, partitionCount } from '../../client/open-bus.ts'
import { loadAgents } from '../../client/weir.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { createLog } from '../../shared/lib/log.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { question } from './agent.ts'
import { type LoopEnd, runPlainLoop } from './plain-loop.ts'
import { playTurn } from './play-turn.ts'
import type { BadModel } from './reflex-model.ts'
import { createScreen, incident, plainLoop, type Screen } from './screen.ts'

/** A turn takes about a second. */
const turnMsMax = 120_000

/**
 * Plays both halves and prints the comparison to `out`. Throws `usage` where the agent files have
 * no agent of the demo, and what the bus throws.
 */
export async function runDemoOverStages(
  bad: BadModel,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  const agent = demoAgentIn(settings.agents, bad)
  const conversation = `demo-${randomBytes(4).toString('hex')}`
  const screen = createScreen(out)
  screen.title(incident)
  screen.half('Without Weir', plainLoop)
  const plain = await counted(agent, () => runPlainLoop(agent, question, screen.round))
  screen.end(plain.end)
  screen.half('With Weir', 'the stages that run on Kafka: the same model, the same tool')
  const weir = await counted(agent, () => throughStages(agent, conversation, settings, screen))
  screen.comparison(plain, weir)
  screen.nextOverStages(bad, conversation)
}

function demoAgentIn(path: string, bad: BadModel): Agent {
  const name = `demo-${bad}`
  const advice = `on Kafka the demo plays over stages that run, with the agent ${name} of their agent files`
  if (path === '')
    throw new WeirError(
      'usage',
      `${advice}: name them with --agents (WEIR_AGENTS); apps/demo/agents has such files`,
    )
  const agent = loadAgents(path).get(name)
  if (agent?.model.baseUrl !== undefined) return agent
  throw new WeirError(
    'usage',
    `${advice}, and ${path} has none whose model is served at a baseUrl; apps/demo/agents has such files`,
  )
}

async function throughStages(
  agent: Agent,
  conversation: ConversationId,
  settings: Settings,
  screen: Screen,
): Promise<LoopEnd> {
  const { topicPrefix } = settings
  const bus = await openBus(settings, createLog({ level: settings.logLevel }))
  try {
    const edge = openEdge({ bus, topicPrefix, partitions: await partitionCount(bus, topicPrefix) })
    const waited = Promise.withResolvers<never>()
    const timer = setTimeout(() => waited.reject(noStages()), turnMsMax)
    try {
      return await playTurn({ edge, agent, conversation, failed: waited.promise, screen })
    } finally {
      clearTimeout(timer)
      edge.close()
    }
  } finally {
    await bus.close()
  }
}

function noStages(): WeirError {
  return new WeirError(
    'usage',
    `the turn did not end within ${turnMsMax / 1000} s: do all stages run? docker compose up --wait starts them`,
  )
}

/** With how many requests the model's service got meanwhile, from whomever. */
async function counted(
  agent: Agent,
  play: () => Promise<LoopEnd>,
): Promise<LoopEnd & { requests: number }> {
  const before = await requestsAt(agent.model.baseUrl ?? '')
  const end = await play()
  return { ...end, requests: (await requestsAt(agent.model.baseUrl ?? '')) - before }
}

async function requestsAt(url: string): Promise<number> {
  try {
    const answer = (await (await fetch(url)).json()) as { requests: number }
    return answer.requests
  } catch (cause) {
    throw noModel(url, cause)
  }
}

function noModel(url: string, cause: unknown): WeirError {
  const message = `the demo's model does not answer at ${url}: ${String(cause)}; docker compose up --wait starts it, or weir demo-model`
  return new WeirError('provider.unavailable', message, { cause })
}
