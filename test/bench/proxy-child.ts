// The processes of the proxy's benches: a model server, and a proxy in front of a model server.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { ProxyRunnerOptions } from './proxy-runner.ts'
import type { ProxyServerOptions } from './proxy-server.ts'

/** `stop` resolves once the process has ended. */
export type Child = { url: string; pid: number; stop(): Promise<void> }

export async function startChild(
  file: 'proxy-server' | 'proxy-runner',
  options: ProxyServerOptions | ProxyRunnerOptions,
): Promise<Child> {
  const path = new URL(`${file}.ts`, import.meta.url).pathname
  const child = spawn(process.execPath, [...process.execArgv, path, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = () => {
    child.stdin.end()
    return ended
  }
  for await (const url of createInterface({ input: child.stdout }))
    return { url, pid: child.pid ?? 0, stop }
  throw new Error(`${file} ended before it listened`)
}
