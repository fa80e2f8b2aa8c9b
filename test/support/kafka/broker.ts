// Real Kafka brokers for tests. The first call of sharedBroker() starts one for the whole test run.
// startBroker() starts one for the caller alone, which can be killed, paused and restarted. Neither
// starts without a caller.
// KAFKA-BROKER-1. The order of tries: KAFKA_BROKERS (shared only), Docker, Kafka's own jars.
//     WEIR_TEST_KAFKA=docker or =jars forces one.
// KAFKA-BROKER-2. No broker outlives its caller. An own broker watches a pipe of its process, the
//     shared one watches the process of the run.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { patience } from '../wait-limit.ts'
import type { Broker, BrokerOptions } from './broker-options.ts'
import { dockerHost, startDockerBroker, whyNoDocker } from './docker-broker.ts'
import { jarHost, startJarBroker } from './jar-broker.ts'

/**
 * For `beforeAll`: a start takes 2 to 5 seconds; the first one on a machine also downloads 55 MB of
 * jars or an image.
 */
export const brokerStartMs = 300_000

/**
 * The variable with the folder of the shared broker's state. test/support/kafka/run-setup.ts sets it
 * for all workers of a jest run.
 */
export const runFolderVariable = 'WEIR_TEST_RUN_FOLDER'

/** The state file, by which the shared broker's process reports to waiting tests. */
export type SharedState = ({ bootstrapServers: string } | { error: string }) & { host: number }

/**
 * The broker of this test run: KAFKA_BROKERS, or one that starts with the first call and stops when
 * the run ends. Tests share it, so they use unique names of topics and groups. It has only a plain
 * listener.
 */
export async function sharedBroker(): Promise<{ bootstrapServers: string }> {
  const given = process.env.KAFKA_BROKERS
  if (given !== undefined && given !== '') return { bootstrapServers: given }
  const folder = runFolder()
  if (isFirst(folder)) startHost(folder)
  const deadline = performance.now() + brokerStartMs * patience()
  while (performance.now() < deadline) {
    const state = sharedState(folder)
    if (state !== undefined && 'error' in state) throw new Error(state.error)
    if (state !== undefined) return state
    await sleep(50)
  }
  throw new Error(
    `The shared Kafka broker did not start within ${brokerStartMs} ms; ${hostLog(folder)} may say why.`,
  )
}

/**
 * A broker for one caller, which must stop() it. The error names the packages to install if none
 * can be started.
 */
export async function startBroker(options: BrokerOptions = {}): Promise<Broker> {
  const noDocker = await whyNotByDocker()
  if (noDocker === undefined) return startDockerBroker(options)
  try {
    return await startJarBroker(options)
  } catch (error) {
    const message = `${(error as Error).message}\nDocker was no way either: ${noDocker}\nOr name a broker for the tests in KAFKA_BROKERS.`
    throw new Error(message, { cause: error })
  }
}

/** The host that startBroker's brokers are reached by, for their certificates. */
export async function brokerHost(): Promise<string> {
  return (await whyNotByDocker()) === undefined ? await dockerHost() : jarHost
}

/**
 * The reason not to use Docker (keeps KAFKA-BROKER-1). Undefined: Docker works. Throws if Docker is
 * forced and does not work.
 */
async function whyNotByDocker(): Promise<string | undefined> {
  const forced = process.env.WEIR_TEST_KAFKA ?? ''
  if (!['', 'docker', 'jars'].includes(forced))
    throw new Error(`WEIR_TEST_KAFKA is ${forced}; it can be docker or jars.`)
  if (forced === 'jars') return 'WEIR_TEST_KAFKA is jars.'
  const noDocker = await whyNoDocker()
  if (forced === 'docker' && noDocker !== undefined)
    throw new Error(`WEIR_TEST_KAFKA is docker, but there is ${noDocker}`)
  return noDocker
}

/** Of this jest run, or, outside of one (a benchmark), of this process. */
export function runFolder(): string {
  return process.env[runFolderVariable] ?? join(tmpdir(), `weir-test-${process.pid}`)
}

export function sharedStateFile(folder: string): string {
  return join(folder, 'shared-broker.json')
}

/** Undefined: it is still starting, or was never requested. */
export function sharedState(folder: string): SharedState | undefined {
  const file = sharedStateFile(folder)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SharedState) : undefined
}

function isFirst(folder: string): boolean {
  mkdirSync(folder, { recursive: true })
  try {
    mkdirSync(join(folder, 'shared-broker.lock'))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/**
 * Starts its own process, because the first worker may be gone before the others are done.
 */
function startHost(folder: string): void {
  const log = openSync(hostLog(folder), 'a')
  const host = fileURLToPath(new URL('shared-broker-host.ts', import.meta.url))
  const run = /-(\d+)$/.exec(folder)?.[1] ?? String(process.pid)
  spawn(process.execPath, [host, folder, run], {
    detached: true,
    stdio: ['ignore', log, log],
  }).unref()
}

function hostLog(folder: string): string {
  return join(folder, 'shared-broker.log')
}
