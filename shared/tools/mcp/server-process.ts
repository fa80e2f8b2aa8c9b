// An MCP server that is a program: a transport of the SDK over its standard input and output. Not
// the SDK's own: that one passes variables of ours, and a kill leaves its children.
// The server sees PATH and the variables that the agent file allows.
// Its whole process group is killed when the connection ends. Its input closes when
// this process ends, however that happens; in a sandbox it then dies at once.
// Text on its output that is no message is dropped, and reported once.
// A server that does not read its input is ended before its messages fill the memory.

import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { McpCommand } from '../../agents/agents.ts'
import { limits } from '../../contract/limits.ts'
import { boundedJson } from '../../lib/json/bounded-json.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { withoutInherited } from '../../lib/sandbox/inherited-descriptors.ts'
import { keepEnd } from '../kept-output.ts'
import { messageLines } from '../message-lines.ts'
import { proxyEnvironment } from '../sandbox/sandbox-environment.ts'
import { sandboxed } from '../sandbox/sandboxed.ts'
import { groupRuns, signalGroup, visibleEnvironment } from '../tool-process.ts'
import type { ProgramEnd, ProgramState } from './mcp-faults.ts'

const statusFd = 3
const errorBytesMax = 8 * 1024
const endMsMax = 1_000

/**
 * The SDK takes a transport with `pid` and `stderr` for a pipe: a program that does not answer its
 * first question in time then gets the request of older revisions.
 */
export type ServerProcess = Transport & {
  readonly pid: number | undefined
  readonly stderr: null
  state(): ProgramState
}

export type ProgramListeners = {
  /** The server prints text between its messages. */
  onNoise(): void
  /** The server has printed so many. */
  onBytes(bytes: number): void
  /** Before the SDK gets the message. */
  onMessage?(message: JSONRPCMessage): void
}

export function serverProcess(
  run: McpCommand,
  { onNoise, onBytes, onMessage }: ProgramListeners,
): ServerProcess {
  let child: ChildProcess | undefined
  let errors = (): { text: string } => ({ text: '' })
  let ended: ProgramEnd | undefined
  let isNoisy = false
  let isClosed = false
  const closed = Promise.withResolvers<void>()
  const readLines = messageLines(limits.mcpMessageBytesMax, {
    onLine: receive,
    onTooLong: () => end(new Error(`a message has more than ${limits.mcpMessageBytesMax} bytes`)),
  })

  const transport: ServerProcess = {
    get pid() {
      return child?.pid
    },
    stderr: null,
    state: () => ({ printed: errors().text.trim(), ended }),
    start() {
      const command = { ...run, kind: 'command' as const }
      const boxed = sandboxed(command, { argv: run.argv, statusFd, forwards: 'launcher' })
      const [program, ...programArguments] = boxed?.argv ?? run.argv
      const env = {
        ...visibleEnvironment(run.environment),
        ...(boxed?.usesProxy === true && proxyEnvironment()),
      }
      const started = spawn(program, programArguments, {
        cwd: run.cwd,
        env,
        detached: true,
        stdio: withoutInherited(['pipe', 'pipe', 'pipe', boxed === undefined ? 'ignore' : 'pipe']),
      })
      child = started
      return new Promise<void>((resolve, reject) => {
        started.once('error', reject)
        started.once('spawn', () => {
          follow(started)
          resolve()
        })
      })
    },
    send(message) {
      const stdin = child?.stdin
      if (stdin == null || !stdin.writable) return failedAtEnd(new Error('the server has ended'))
      if (stdin.writableLength > limits.mcpMessageBytesMax) {
        const fault = new Error('the server does not read its messages')
        end(fault)
        return failedAtEnd(fault)
      }
      return new Promise((resolve, reject) => {
        stdin.write(`${JSON.stringify(message)}\n`, (error) =>
          error == null ? resolve() : failedAtEnd(error).catch(reject),
        )
      })
    },
    async close() {
      if (child?.pid !== undefined) signalGroup(child.pid, 'SIGKILL')
    },
  }
  return transport

  function end(fault: Error): void {
    transport.onerror?.(fault)
    void transport.close()
  }

  /** Its pipe breaks a moment before its end is known, which explains more. */
  async function failedAtEnd(error: Error): Promise<never> {
    if (!isClosed) await Promise.race([closed.promise, sleep(endMsMax, undefined, { ref: false })])
    throw error
  }

  function follow(started: ChildProcess): void {
    const { pid = 0 } = started
    const [stdin, stdout, stderr, status] = started.stdio as unknown as [
      ...[Writable, Readable, Readable],
      Readable | null,
    ]
    const groupIsGone = groupRuns(pid)
    errors = keepEnd(stderr, errorBytesMax)
    stdin.on('error', () => {}) // its exit says more
    status?.on('error', () => {}).resume()
    stdout.on('data', read)
    started.once('exit', (code, signal) => {
      ended = { code, signal }
      signalGroup(pid, 'SIGKILL') // now: from here on another process may get the group's number
      groupIsGone()
    })
    started.once('close', () => {
      isClosed = true
      closed.resolve()
      transport.onclose?.()
    })
    // An idle server does not keep this process alive.
    started.unref()
    for (const stream of started.stdio) (stream as { unref?(): void } | null)?.unref?.()
  }

  function read(piece: Buffer): void {
    onBytes(piece.length)
    readLines(piece)
  }

  function receive(line: string): void {
    const message = messageIn(line)
    if (message !== undefined) {
      onMessage?.(message)
      transport.onmessage?.(message)
      return
    }
    if (!isNoisy) onNoise()
    isNoisy = true
  }
}

/** The SDK judges its members. */
function messageIn(line: string): JSONRPCMessage | undefined {
  const message = boundedJson(line, limits.jsonDepthMax)
  return isObject(message) && message.jsonrpc === '2.0'
    ? (message as unknown as JSONRPCMessage)
    : undefined
}
