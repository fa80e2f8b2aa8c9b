// A broker in a container of the official image, through testcontainers, whose reaper removes the
// container when this process is gone (KAFKA-BROKER-2).

import type { StartedTestContainer } from 'testcontainers'
import { kafkaVersion } from './broker-jars.ts'
import {
  type Broker,
  type BrokerOptions,
  clusterId,
  freePorts,
  jvmOptions,
  scramArguments,
  serverProperties,
} from './broker-options.ts'

/** The image of docker-compose.yml. The variable names another, for example one without a digest. */
export const kafkaImage = `apache/kafka:${kafkaVersion}@sha256:77e3df9054047a88b520d0cc46e16696d3b22022e1d580aeccd2632df6532837`
const image = process.env.KAFKA_IMAGE ?? kafkaImage
const startMs = 120_000
const shutdownMs = 20_000
const properties = '/mnt/shared/config/server.properties'

/** The reason why Docker cannot run a broker; undefined: it can. Pulls the image if it must. */
export async function whyNoDocker(): Promise<string | undefined> {
  const { getContainerRuntimeClient, getReaper, ImageName } = await testcontainers()
  try {
    const client = await getContainerRuntimeClient()
    const name = ImageName.fromString(image)
    if (!(await client.image.exists(name))) await client.image.pull(name)
    await getReaper(client)
    return undefined
  } catch (error) {
    return `no Docker engine that has or can pull ${image} and its reaper answers: ${(error as Error).message}`
  }
}

export async function dockerHost(): Promise<string> {
  const { getContainerRuntimeClient } = await testcontainers()
  return (await getContainerRuntimeClient()).info.containerRuntime.host
}

export async function startDockerBroker(options: BrokerOptions): Promise<Broker> {
  const { GenericContainer, getContainerRuntimeClient, Wait } = await testcontainers()
  const client = await getContainerRuntimeClient()
  const advertised = await dockerHost()
  const ports = await freePorts(options)
  const content = serverProperties(options, {
    advertised,
    bound: '0.0.0.0',
    ports,
    logDir: '/var/lib/kafka/data/log',
  })
  // Formatted here, because the image's own script cannot make users.
  const format = [
    '/opt/kafka/bin/kafka-storage.sh',
    'format',
    '--ignore-formatted',
    '--cluster-id',
    clusterId,
    '--config',
    properties,
  ]
  const users = scramArguments(options)
  const container: StartedTestContainer = await new GenericContainer(image)
    .withEnvironment({ CLUSTER_ID: clusterId, KAFKA_HEAP_OPTS: jvmOptions(options).join(' ') })
    .withCopyContentToContainer([{ content, target: properties, mode: 0o644 }])
    .withExposedPorts(
      ...[ports.plain, ...Object.values(ports.others)].map((port) => ({
        container: port,
        host: port,
      })),
    )
    .withCommand(
      users.length === 0
        ? ['/etc/kafka/docker/run']
        : ['bash', '-c', `"$@" && exec /etc/kafka/docker/run`, 'bash', ...format, ...users],
    )
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .withStartupTimeout(startMs)
    .start()
  const docker = client.container.getById(container.getId())
  let state: 'runs' | 'paused' | 'killed' | 'stopped' = 'runs'

  async function resume(): Promise<void> {
    if (state === 'paused') await docker.unpause()
    if (state === 'paused') state = 'runs'
  }

  return {
    bootstrapServers: `${advertised}:${ports.plain}`,
    listeners: Object.fromEntries(
      Object.entries(ports.others).map(([name, port]) => [name, `${advertised}:${port}`]),
    ),
    way: 'docker',
    async stop() {
      if (state === 'stopped') return
      await resume()
      state = 'stopped'
      await container.stop({ timeout: 1, remove: true, removeVolumes: true })
    },
    async kill() {
      if (state === 'killed') return
      await docker.kill({ signal: 'SIGKILL' })
      await docker.wait()
      state = 'killed'
    },
    async restart() {
      await resume()
      await container.restart({ timeout: shutdownMs })
      state = 'runs'
    },
    async pause() {
      await docker.pause()
      state = 'paused'
    },
    resume,
  }
}

/** Loaded on use, because it is large. */
function testcontainers(): Promise<typeof import('testcontainers')> {
  return import('testcontainers')
}
