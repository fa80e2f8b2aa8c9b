// A broker from Kafka's own jars: one JVM, one folder with its properties, data and log. The JVM is
// the child of a shell that also reads a pipe from this process: when that closes, the shell kills
// the JVM and removes the folder (KAFKA-BROKER-2).

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { patience } from '../wait-limit.ts'
import { kafkaJars } from './broker-jars.ts'
import {
  type Broker,
  type BrokerOptions,
  clusterId,
  freePorts,
  jvmOptions,
  scramArguments,
  serverProperties,
} from './broker-options.ts'

const run = promisify(execFile)
const startMs = 240_000
/** The time limit of an orderly shutdown, before a kill. */
const shutdownMs = 20_000
const host = '127.0.0.1'
export const jarHost = 'localhost'

type Place = { jars: string; folder: string; options: string[] }

type Jvm = { pid: number; shell: ChildProcess; exited: Promise<unknown> }

export async function startJarBroker(options: BrokerOptions): Promise<Broker> {
  const jars = await kafkaJars()
  if (await isFirstToPrepare(jars)) await prepare(jars)
  const { archive, formatted } = prepared(jars)
  const quick = existsSync(archive)
    ? [`-XX:SharedArchiveFile=${archive}`, '-Xlog:cds=off', '-Xlog:cds+dynamic=off']
    : []
  const { folder, addresses } = await brokerFolder(options)
  const place: Place = { jars, folder, options: [...jvmOptions(options), ...quick] }
  if (options.users === undefined && existsSync(formatted))
    await cp(formatted, join(folder, 'data'), { recursive: true })
  else await format(jars, folder, scramArguments(options))
  let jvm: Jvm | undefined = await startJvm(place)
  let starting: Promise<unknown> = Promise.resolve()

  /** A broker that is starting ends too, otherwise it would write into a folder that is removed. */
  async function end(signal: NodeJS.Signals): Promise<void> {
    await starting.catch(() => undefined)
    if (jvm !== undefined) await endJvm(jvm, signal)
    jvm = undefined
  }
  const signal = (name: NodeJS.Signals) => {
    if (jvm === undefined) throw new Error(`The broker does not run; it cannot take ${name}.`)
    process.kill(jvm.pid, name)
  }

  return {
    ...addresses,
    way: 'jars',
    async stop() {
      await end('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
    kill: () => end('SIGKILL'),
    async restart() {
      await end('SIGTERM')
      const started = startJvm(place)
      starting = started
      jvm = await started
    },
    async pause() {
      signal('SIGSTOP')
      if (jvm !== undefined) await allStopped(jvm.pid)
    },
    resume: async () => signal('SIGCONT'),
  }
}

/** A folder with server.properties, and the addresses in it. */
async function brokerFolder(options: BrokerOptions) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-kafka-'))
  const ports = await freePorts(options)
  const text = serverProperties(options, {
    advertised: jarHost,
    bound: host,
    ports,
    logDir: join(folder, 'data'),
  })
  await writeFile(join(folder, 'server.properties'), text)
  const addresses = {
    bootstrapServers: `${jarHost}:${ports.plain}`,
    listeners: Object.fromEntries(
      Object.entries(ports.others).map(([name, port]) => [name, `${jarHost}:${port}`]),
    ),
  }
  return { folder, addresses }
}

/**
 * Files that halve a broker's start and save its formatting. Next to the jars, because Java checks an
 * archive against the class path of its making.
 */
function prepared(jars: string) {
  return { archive: join(jars, 'broker.jsa'), formatted: join(jars, 'formatted') }
}

/**
 * Without the preparation everything works, but slower. So others do not wait for it, and an
 * interrupted one is not repeated.
 */
async function isFirstToPrepare(jars: string): Promise<boolean> {
  return (await mkdir(join(jars, 'preparing'), { recursive: true })) !== undefined
}

/** Runs a broker for a moment, which writes the archive of its classes at its end. */
async function prepare(jars: string): Promise<void> {
  const { archive, formatted } = prepared(jars)
  const { folder } = await brokerFolder({})
  await format(jars, folder, [])
  await cp(join(folder, 'data'), join(jars, 'formatted.new'), { recursive: true })
  await rename(join(jars, 'formatted.new'), formatted)
  const jvm = await startJvm({
    jars,
    folder,
    options: [
      ...jvmOptions({}),
      `-XX:ArchiveClassesAtExit=${archive}.new`,
      '-Xlog:cds=off',
      '-Xlog:cds+dynamic=off',
    ],
  })
  await endJvm(jvm, 'SIGTERM')
  if (existsSync(`${archive}.new`)) await rename(`${archive}.new`, archive)
  await rm(folder, { recursive: true, force: true })
}

async function format(jars: string, folder: string, users: string[]): Promise<void> {
  const config = join(folder, 'server.properties')
  const tool = [
    'kafka.tools.StorageTool',
    'format',
    '--cluster-id',
    clusterId,
    '--config',
    config,
    ...users,
  ]
  await run('java', ['-Xmx128m', '-XX:TieredStopAtLevel=1', ...commonOptions(jars), ...tool])
}

function commonOptions(jars: string): string[] {
  const log4j = fileURLToPath(new URL('log4j2.yaml', import.meta.url))
  return ['-XX:+UseSerialGC', `-Dlog4j2.configurationFile=${log4j}`, '-cp', join(jars, '*')]
}

/**
 * Reads only the end of its pipe. `$1`: the folder to remove when the parent has died. The rest is
 * the command.
 */
const watchedCommand = `
folder=$1; shift
exec 3<&0
"$@" </dev/null 3<&- 4>&- &
broker=$!
echo $broker >&4
exec 4>&-
{ cat <&3 >/dev/null; kill -KILL $broker && rm -rf "$folder"; } 2>/dev/null &
wait $broker
`

/** Resolves when it accepts requests. Its ports open earlier, but then it creates no topics. */
async function startJvm({ jars, folder, options }: Place): Promise<Jvm> {
  const log = join(folder, 'broker.log')
  const from = existsSync(log) ? statSync(log).size : 0
  const command = [
    'java',
    ...options,
    ...commonOptions(jars),
    'kafka.Kafka',
    join(folder, 'server.properties'),
  ]
  const out = openSync(log, 'a')
  const shell = spawn('sh', ['-c', watchedCommand, 'sh', folder, ...command], {
    stdio: ['pipe', out, out, 'ignore', 'pipe'],
  })
  closeSync(out)
  const exited = once(shell, 'exit').then(() => shell.stdin?.destroy())
  const [pid] = (await once(shell.stdio[4] as NodeJS.ReadableStream, 'data')) as [Buffer]
  const jvm: Jvm = { pid: Number(pid), shell, exited }
  const deadline = performance.now() + startMs * patience()
  while (!readFileSync(log).includes('Kafka Server started', from)) {
    if (shell.exitCode !== null || performance.now() > deadline) {
      await endJvm(jvm, 'SIGKILL')
      throw new Error(
        `The broker did not start. The end of its log, ${log}:\n${readFileSync(log, 'utf8').slice(-4_000)}`,
      )
    }
    await sleep(50)
  }
  return jvm
}

/**
 * A signal stops one thread, and that one stops the others. On a busy machine they answer on for a
 * while.
 */
async function allStopped(pid: number): Promise<void> {
  const threads = `/proc/${pid}/task`
  if (!existsSync(threads)) return sleep(1_000) // not Linux: the state is unknown
  while (readdirSync(threads).some((thread) => !isStopped(join(threads, thread, 'stat'))))
    await sleep(5)
}

/** The state follows the name, which is in brackets and may contain brackets. */
function isStopped(stat: string): boolean {
  try {
    const text = readFileSync(stat, 'utf8')
    return /^ [Tt]/.test(text.slice(text.lastIndexOf(')') + 1))
  } catch {
    return true // the thread is gone
  }
}

async function endJvm({ pid, shell, exited }: Jvm, signal: NodeJS.Signals): Promise<void> {
  if (shell.exitCode !== null) return // it died by itself
  process.kill(pid, 'SIGCONT') // a stopped process ignores SIGTERM
  process.kill(pid, signal)
  const late = setTimeout(() => process.kill(pid, 'SIGKILL'), shutdownMs)
  await exited
  clearTimeout(late)
}
