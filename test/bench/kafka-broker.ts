// The separate broker of the Kafka benches, and its process: the broker's CPU time for Weir is a
// cost of Weir, too.

import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { startBroker } from '../support/kafka/broker.ts'
import type { Broker, BrokerOptions } from '../support/kafka/broker-options.ts'
import { startJarBroker } from '../support/kafka/jar-broker.ts'
import { openKafka } from './kafka-topics.ts'

/** `pid`: of its JVM. Undefined in a container, whose processes belong to another namespace. */
export type BenchBroker = Pick<Broker, 'bootstrapServers' | 'stop'> & { pid: number | undefined }

/**
 * Kafka's own jars first: Docker's port forwarding would count, too. Throws if no broker can start,
 * and names the package to install.
 */
export async function openBroker(): Promise<BenchBroker> {
  const isForced = (process.env.WEIR_TEST_KAFKA ?? '') !== ''
  const { bootstrapServers, stop, way } = isForced
    ? await startBroker(measured)
    : await startJarBroker(measured).catch(() => startBroker(measured))
  await untilItTakesGroups(bootstrapServers)
  return { bootstrapServers, stop, pid: way === 'jars' ? brokerProcess() : undefined }
}

const measured: BrokerOptions = { optimized: true }

/** To run one of the benches alone. */
export async function withBroker<T>(use: (broker: BenchBroker) => Promise<T>): Promise<T> {
  const broker = await openBroker()
  try {
    return await use(broker)
  } finally {
    await broker.stop()
  }
}

/**
 * At its first group a broker creates the topic of commits. Consumers of kafkajs fail until it has
 * loaded all partitions of that topic.
 */
async function untilItTakesGroups(bootstrapServers: string): Promise<void> {
  const admin = openKafka(bootstrapServers).admin()
  await admin.connect()
  const groups = Array.from({ length: 16 }, (_, i) => `group-${i}`)
  const deadline = performance.now() + groupsMs
  const areTaken = () =>
    admin.describeGroups(groups).then(
      () => true,
      (error: unknown) => {
        if (performance.now() > deadline) throw error
        return false
      },
    )
  while (!(await areTaken())) await sleep(200)
  await admin.disconnect()
}

const groupsMs = 30_000

/**
 * The JVM is the child of a shell that is a child of this process (jar-broker.ts). Undefined: no
 * /proc.
 */
function brokerProcess(): number | undefined {
  try {
    return readdirSync('/proc')
      .map(Number)
      .find((pid) => pid > 0 && isKafka(pid) && parentOf(parentOf(pid)) === process.pid)
  } catch {
    return undefined
  }
}

function isKafka(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0kafka.Kafka\0')
  } catch {
    return false // the process has exited in the meantime
  }
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}
