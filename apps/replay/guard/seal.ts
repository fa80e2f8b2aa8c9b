// Closes the gaps of Node's permission model before a guard loads: the network (Node.js before 25),
// SQLite, threads, signals and the channel to the replay. A call throws. This stops libraries and
// honest mistakes, not malicious code.

import dgram from 'node:dgram'
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import os from 'node:os'
import threads from 'node:worker_threads'

/** Lasts as long as the process. */
export function seal(): void {
  const network = refusing('no network')
  // All connections use these functions: fetch, http, http2, tls and WebSocket too.
  shut(net.Socket.prototype, ['connect'], network)
  shut(net.Server.prototype, ['listen', '_listen2'], network)
  shut(
    dgram.Socket.prototype,
    ['bind', 'bindSync', 'connect', 'connectSync', 'send', 'sendto'],
    network,
  )
  for (const names of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype])
    shut(names, lookupsOf(names), network)
  // they would fail later, with a poorer message
  shut(globalThis, ['fetch', 'WebSocket', 'EventSource'], network)
  shut(process.getBuiltinModule('node:sqlite'), ['DatabaseSync'], refusing('no database'))
  shut(threads, ['Worker'], refusing('no threads'))
  // Internals that libraries know. _debugProcess opens the debugger of any process of this user.
  const signals = ['kill', '_kill', '_debugProcess', '_debugEnd', '_rawDebug']
  shut(process, signals, refusing('no signals to send'))
  shut(net, ['_createServerHandle', '_TransferredBoundSocket'], network)
  shut(dgram, ['_createSocketHandle'], network)
  shut(process, ['send', '_send', 'disconnect', '_disconnect', '_channel'], undefined)
  shut(process, ['_getActiveHandles', '_getActiveRequests'], () => []) // the channel is one
  // Their results differ between replays, and a guard could decide by them.
  shut(process, ['pid', 'ppid'], 1)
  shut(os, ['hostname'], () => 'replay')
  syncBuiltinESMExports()
}

function refusing(what: string): () => never {
  return function refused(): never {
    throw new Error(`a guard that judges in a replay has ${what}`)
  }
}

function shut(holder: object, names: readonly string[], value: unknown): void {
  for (const name of names)
    Object.defineProperty(holder, name, { value, writable: false, configurable: false })
}

function lookupsOf(holder: object): string[] {
  return Object.getOwnPropertyNames(holder).filter((name) => /^(lookup|resolve|reverse)/.test(name))
}
