// `weir demo`: plays incident I1 three times against the same scripted model over real HTTP: through a
// plain agent loop, through Weir, and through the plain loop at Weir's proxy.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEdge } from '../../client/edge/edge.ts'
import type { ModelCall } from '../../client/testing/anthropic-stream.ts'
import { startStages } from '../../services/stages.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import { logFileIn } from '../../shared/bus/embedded/file/log-file.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import { foldFrom } from '../../shared/runtime/log/position.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { demoAgent, question } from './agent.ts'
import { type Reply, startAnthropicServer } from './anthropic-server.ts'
import { type LoopEnd, runPlainLoop } from './plain-loop.ts'
import { playTurn } from './play-turn.ts'
import { type BadModel, isWarned, mayCall, reflexModel, thinkingMs } from './reflex-model.ts'
import { atProxy, createScreen, incident, type Play, plainLoop, type Screen } from './screen.ts'

export type DemoOptions = { bad: BadModel; keptIn?: string | undefined }

/** Starts the model proxy before `upstream`, with its log in memory. */
export type StartProxy = (
  upstream: string,
  settings: Settings,
) => Promise<{ url: string; close(): Promise<void> }>

/**
 * Plays the three parts and prints the comparison to `out`. Removes all that it started and wrote, but
 * keeps the log if a folder for it is named. Throws `output.exists` if that folder has a log: the
 * demo's stages do not know its agents and would fail its turns.
 */
export async function runDemo(
  { bad, keptIn }: DemoOptions,
  { settings, startProxy }: { settings: Settings; startProxy: StartProxy },
  out: NodeJS.WriteStream,
): Promise<void> {
  if (keptIn !== undefined && existsSync(logFileIn(keptIn)))
    throw new WeirError(
      'output.exists',
      `${logFileIn(keptIn)} is there already: the demo keeps its log in a folder of its own, so name a new one (--data-folder)`,
    )
  const screen = createScreen(out)
  screen.title(incident)
  const plain = await playPlain(bad, screen)
  const weir = await playWeir({ bad, keptIn }, settings, screen)
  const proxied = await playAtProxy(bad, { settings, startProxy }, screen)
  screen.comparison({ plain, weir, proxied })
  screen.next(bad, keptIn)
}

/** With a model server for this play. */
async function played(
  model: (call: ModelCall, number: number) => Reply,
  play: (url: string) => Promise<LoopEnd>,
): Promise<Play> {
  const server = await startAnthropicServer(model, thinkingMs)
  try {
    return { ...(await play(server.url)), requests: server.requests.length }
  } finally {
    await server.close()
  }
}

async function playLoop(url: string, screen: Screen): Promise<LoopEnd> {
  const end = await runPlainLoop(demoAgent(url), question, screen.round)
  screen.end(end.end)
  return end
}

function playPlain(bad: BadModel, screen: Screen): Promise<Play> {
  screen.half('Without Weir', plainLoop)
  return played(reflexModel(bad), (url) => playLoop(url, screen))
}

/** The plain loop is the same: it has another base URL. */
async function playAtProxy(
  bad: BadModel,
  { settings, startProxy }: { settings: Settings; startProxy: StartProxy },
  screen: Screen,
): Promise<Play> {
  screen.half('At its proxy', atProxy)
  const model = reflexModel(bad)
  const watched = (call: ModelCall, number: number): Reply => {
    if (isWarned(call)) screen.advised(number, { isClosed: !mayCall(call) })
    return model(call, number)
  }
  return played(watched, async (url) => {
    const proxy = await startProxy(url, settings)
    return playLoop(proxy.url, screen).finally(proxy.close)
  })
}

async function playWeir(
  { bad, keptIn }: DemoOptions,
  settings: Settings,
  screen: Screen,
): Promise<Play> {
  screen.half('With Weir', 'its stages on the embedded bus: the same model, the same tool')
  const folder = keptIn === undefined ? makeFolder() : { path: keptIn, remove() {} }
  return played(reflexModel(bad), (url) =>
    throughWeir(demoAgent(url), folder.path, settings, screen),
  ).finally(folder.remove)
}

function newFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'weir-demo-'))
  } catch (cause) {
    throw noFolder(cause)
  }
}

function noFolder(cause: unknown): WeirError {
  const message = `the demo needs a folder for its log in ${tmpdir()}: ${String(cause)}. Set TMPDIR to a folder that can be written.`
  return new WeirError('bus.unwritable', message, { cause })
}

/** A folder for the bus. It is removed at the end, also after Ctrl-C. */
function makeFolder(): { path: string; remove: () => void } {
  const path = newFolder()
  const interrupted = () => process.exit(130)
  const clear = () => rmSync(path, { recursive: true, force: true })
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted).once('exit', clear)
  return {
    path,
    remove() {
      process.off('SIGINT', interrupted).off('SIGTERM', interrupted).off('exit', clear)
      clear()
    },
  }
}

async function throughWeir(
  agent: Agent,
  folder: string,
  settings: Settings,
  screen: Screen,
): Promise<LoopEnd> {
  const log = createLog({ level: settings.logLevel })
  const { topicPrefix, partitions } = settings
  const bus = await openEmbeddedBus({
    file: logFileIn(folder),
    clock: systemClock,
    synchronous: settings.synchronous,
    keepFrom: foldFrom,
    log,
  })
  const running = await startStages({
    bus,
    agents: new Map([[agent.name, agent]]),
    topicPrefix,
    partitions,
    log,
  })
  const edge = openEdge({ bus, topicPrefix, partitions })
  try {
    return await playTurn({ edge, agent, conversation: 'demo', failed: running.failed, screen })
  } finally {
    edge.close()
    await running.close()
    await bus.close()
  }
}
