// In a sandbox with a list of hosts: forwards a local port to the proxy's socket. As a program it
// then starts the tool, given as its arguments, and ends as the tool ends. As a worker
// (module-child.ts) it only forwards. A tool that changes it gains nothing: the proxy decides.

import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'
import { constants } from 'node:os'
import { isMainThread, parentPort } from 'node:worker_threads'
import { proxySocketInside } from '../../lib/sandbox/confinement.ts'
import { proxyPort } from './sandbox-environment.ts'

const server = createServer((client) => {
  const proxy = connect(proxySocketInside)
  client.on('error', () => proxy.destroy()).pipe(proxy)
  proxy.on('error', () => client.destroy()).pipe(client)
})

server.on('error', () => process.exit(1))
server.listen(proxyPort, '127.0.0.1', () => {
  if (isMainThread) startTool()
  else parentPort?.postMessage('forwards')
})

function startTool(): void {
  const [, , program = '', ...programArguments] = process.argv
  const tool = spawn(program, programArguments, { stdio: 'inherit' })
  // A stop signals the whole group, so the tool has it already.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  tool.on('error', () => process.exit(127))
  tool.on('exit', (code, signal) =>
    process.exit(code ?? 128 + constants.signals[signal ?? 'SIGKILL']),
  )
}
