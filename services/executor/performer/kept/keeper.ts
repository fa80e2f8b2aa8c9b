// The process that holds the command tools of this executor (keeper-child.ts), as the executor sees
// it. It starts with `begin` or the first call, and again if it ends. An idle one does not keep us alive.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { getCompileCacheDir } from 'node:module'
import { dirname, extname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { CommandTool } from '../../../../shared/agents/agents.ts'
import { makeFolders } from '../../../../shared/lib/files/make-folders.ts'
import { withoutInherited } from '../../../../shared/lib/sandbox/inherited-descriptors.ts'
import { commandLaunch } from '../../../../shared/tools/command/command.ts'
import { runCommand } from '../../../../shared/tools/command/command-run.ts'
import type { RunningTool, ToolCall, ToolEnding } from '../../../../shared/tools/tool.ts'
import { neverStarted, notStarted, stopped } from '../../../../shared/tools/tool-endings.ts'
import { groupRuns } from '../../../../shared/tools/tool-process.ts'
import { nodeArgv } from '../../../../shared/tools/tool-program.ts'
import { type KeeperAnswer, type KeeperRequest, machineMs } from './keeper-protocol.ts'
import { processMark } from './process-mark.ts'
import {
  type ClaimId,
  claimName,
  markRunning,
  removeClaim,
  removeIfEmpty,
  writeProcesses,
} from './result-files.ts'

export type Keeper = {
  /** Starts the process, so the first call need not wait for its start. */
  begin(): void
  /** As StartTool. `leftMs`: how long the claim allows a start. */
  start(run: CommandTool, call: ToolCall, of: { claim: ClaimId; leftMs: number }): RunningTool
  /** The log has the outcome of this claim. */
  forget(claim: ClaimId): void
  close(): void
}

type OpenCall = {
  started: PromiseWithResolvers<boolean>
  ended: PromiseWithResolvers<ToolEnding>
  groupIsGone: () => void
}

type Running = { child: ChildProcess; folder: string; calls: Map<string, OpenCall> }

export type KeeperOptions = {
  /** The folder for the folders of all executors of a data folder. */
  root: string
  /** No file has one of them. */
  secrets: string[]
  log: Pick<Logger, 'warn' | 'error'>
}

/** Next to this file, with its extension: .ts in a checkout, .js in the package. */
const keeperChild = fileURLToPath(
  new URL(`keeper-child${extname(import.meta.filename)}`, import.meta.url),
)

export function createKeeper(options: KeeperOptions): Keeper {
  const { root, log } = options
  const folders = new Map<string, string>()
  let running: Running | undefined
  let isRefused = false

  return {
    begin: () => void current(),

    start(run, call, { claim, leftMs }) {
      const name = claimName(claim)
      const keeper = keeperFor(name) // first: a sandbox hides only a folder that is there
      const launch = commandLaunch(run, call)
      if ('status' in launch) {
        forget(claim)
        return neverStarted(launch)
      }
      if (keeper === undefined) return runCommand(launch, call)
      const { arguments: text, timeoutMs, graceMs } = call
      const open: OpenCall = {
        started: Promise.withResolvers(),
        ended: Promise.withResolvers(),
        groupIsGone: () => {},
      }
      keeper.calls.set(name, open)
      hold(keeper)
      send(keeper, {
        type: 'start',
        claim,
        launch: { ...launch, cwd: resolve(launch.cwd ?? '.') },
        arguments: text,
        timeoutMs,
        graceMs,
        leftMs,
        sentAt: { wall: Date.now(), monotonic: machineMs() },
      })
      return {
        started: open.started.promise,
        ended: open.ended.promise,
        stop: (grace, why) => send(keeper, { type: 'stop', name, graceMs: grace, why }),
      }
    },

    forget,

    close() {
      const ended = running
      running = undefined
      if (ended === undefined) return
      if (ended.child.connected) ended.child.disconnect()
      removeIfEmpty(ended.folder)
    },
  }

  function forget(claim: ClaimId): void {
    const name = claimName(claim)
    const folder = folders.get(name)
    folders.delete(name)
    if (folder === undefined) return
    removeClaim(folder, name)
    if (folder !== running?.folder) removeIfEmpty(folder)
  }

  function onEnd(keeper: Running): void {
    if (running === keeper) running = undefined
  }

  /** With the claim marked as running. Undefined: no file can be written, so the call runs here. */
  function keeperFor(name: string): Running | undefined {
    const keeper = current()
    if (keeper === undefined) return undefined
    try {
      markRunning(keeper.folder, name)
      folders.set(name, keeper.folder)
      return keeper
    } catch (error) {
      return refuse(error)
    }
  }

  function current(): Running | undefined {
    try {
      running ??= startKeeper(options, onEnd)
      return running
    } catch (error) {
      return refuse(error)
    }
  }

  function refuse(error: unknown): undefined {
    if (!isRefused)
      log.warn(
        { err: error, folder: root },
        'results of running tools cannot be kept: if this process dies, their outcome is unknown',
      )
    isRefused = true
  }
}

function startKeeper(
  { root, secrets, log }: KeeperOptions,
  onEnd: (keeper: Running) => void,
): Running {
  const folder = join(root, randomUUID())
  makeFolders(root, 0o700)
  makeFolders(folder, 0o700)
  const [node, ...flags] = nodeArgv
  // Its own session: a signal to our group does not reach it. Our outputs may be pipes whose
  // readers wait for their end.
  const child = spawn(node, [...flags, keeperChild, folder], {
    cwd: '/',
    env: compileCache(),
    detached: true,
    stdio: withoutInherited(['ignore', 'ignore', 'ignore', 'ipc']),
  })
  const keeper: Running = { child, folder, calls: new Map() }
  child.on('message', (answer: KeeperAnswer) => onAnswer(keeper, answer, log))
  const end = (error?: Error) => {
    onEnd(keeper)
    endCalls(keeper, error)
  }
  child.on('error', end)
  child.once('exit', () => end())
  try {
    const { pid } = child
    if (pid !== undefined)
      writeProcesses(folder, { executor: processMark(process.pid), keeper: processMark(pid) })
  } catch (error) {
    child.disconnect()
    throw error
  }
  send(keeper, { type: 'secrets', secrets })
  hold(keeper)
  return keeper
}

/** The keeper uses the compiled code of this process. Compiling takes three quarters of its start. */
function compileCache(): NodeJS.ProcessEnv {
  const ofThisVersion = getCompileCacheDir()
  return ofThisVersion === undefined ? {} : { NODE_COMPILE_CACHE: dirname(ofThisVersion) }
}

function onAnswer(keeper: Running, answer: KeeperAnswer, log: KeeperOptions['log']): void {
  if (answer.type === 'failed') {
    log.error({ stack: answer.stack }, 'the process that holds the command tools failed')
    return
  }
  const open = keeper.calls.get(answer.name)
  if (answer.type === 'started') {
    if (answer.pid !== undefined && open !== undefined) open.groupIsGone = groupRuns(answer.pid)
    open?.started.resolve(answer.started)
    return
  }
  open?.groupIsGone()
  open?.started.resolve(answer.ending.isGivenBack !== true)
  open?.ended.resolve(answer.ending)
  keeper.calls.delete(answer.name)
  hold(keeper)
}

/** Its calls may have run, unless the system never started it. */
function endCalls(keeper: Running, error?: NodeJS.ErrnoException): void {
  const neverRan = keeper.child.pid === undefined
  const event = 'the process that holds the tools could not be started'
  const fault = `${event}: ${error?.message}`
  for (const open of keeper.calls.values()) {
    open.groupIsGone()
    open.started.resolve(!neverRan)
    open.ended.resolve(
      neverRan
        ? notStarted({ code: error?.code ?? 'unknown', event, fault })
        : stopped('the process that held it ended'),
    )
  }
  keeper.calls.clear()
}

function send({ child }: Running, request: KeeperRequest): void {
  if (child.connected) child.send(request, () => {}) // a broken channel also ends the process
}

/** We stay alive for its calls. */
function hold({ child, calls }: Running): void {
  if (calls.size > 0) child.ref()
  else child.unref()
  if (calls.size > 0) child.channel?.ref()
  else child.channel?.unref()
}
