// The broker that the Kafka benches run on: one of their own, and its process, because what a
// broker computes for Weir is Weir's cost, too.

import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { startBroker } from '../support/kafka/broker.ts'
import type { Broker, BrokerOptions } from '../support/kafka/broker-options.ts'
import { startJarBroker } from '../support/kafka/jar-broker.ts'
import { openKafka } from './kafka-topics.ts'

/**
 * `pid`: of its JVM; undefined where it runs in a container, whose processes are not this one's.
 */
export type BenchBroker = Pick<Broker, 'bootstrapServers' | 'stop'> & { pid: number | undefined }

/**
 * Kafka's own jars first: Docker's forwarding of ports would be measured, too. Throws with what to
 * install where there is no way to have a broker.
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

/** For running one of the benches alone. */
export async function withBroker<T>(use: (broker: BenchBroker) => Promise<T>): Promise<T> {
  const broker = await openBroker()
  try {
    return await use(broker)
  } finally {
    await broker.stop()
  }
}

/**
 * With its first group a broker makes the topic of commits, and until it has loaded all partitions
 * of that kafkajs's consumers fail.
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
    return false // it has ended meanwhile
  }
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}
