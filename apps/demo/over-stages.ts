// `weir demo --bus kafka`: plays incident I1 through a plain loop in this process, then through
// stages that run elsewhere. Both must reach the model, which is a service (model-service.ts). Its
// address is in the agent files, which gateway, executor and this process share.

import { randomBytes } from 'node:crypto'
import { openEdge } from '../../client/edge/edge.ts'
import { openBus, partitionCount } from '../../client/place/open-bus.ts'
import { loadAgents } from '../../client/weir.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { usageError, WeirError } from '../../shared/lib/errors.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { question } from './agent.ts'
import { type LoopEnd, runPlainLoop } from './plain-loop.ts'
import { playTurn } from './play-turn.ts'
import type { BadModel } from './reflex-model.ts'
import { createScreen, incident, plainLoop, type Screen } from './screen.ts'

/** Generous: a turn takes about a second. */
const turnMsMax = 120_000

/**
 * Plays both halves and prints the comparison to `out`. Throws `usage` if the agent files have no
 * agent of the demo, and the errors of the bus.
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
  screen.comparison({ plain, weir })
  screen.nextOverStages(bad, conversation)
}

function demoAgentIn(path: string, bad: BadModel): Agent {
  const name = `demo-${bad}`
  const advice = `on Kafka the demo uses running stages, and the agent ${name} of their agent files`
  if (path === '')
    throw usageError(
      `${advice}: name these files with --agents (WEIR_AGENTS); see apps/demo/agents for examples`,
    )
  const agent = loadAgents(path).get(name)
  if (agent?.model.baseUrl !== undefined) return agent
  throw usageError(
    `${advice}, but ${path} has none with a model at a baseUrl; see apps/demo/agents for examples`,
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
    const timer = setTimeout(() => waited.reject(usageError(noStages)), turnMsMax)
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

const noStages = `the turn did not end within ${turnMsMax / 1000} s: do all stages run? Start them: docker compose up --wait`

/** Adds the number of requests to the model's service during the play, from any client. */
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
  const message = `the demo's model does not answer at ${url}: ${String(cause)}. Start it: docker compose up --wait, or weir demo-model`
  return new WeirError('provider.unavailable', message, { cause })
}
