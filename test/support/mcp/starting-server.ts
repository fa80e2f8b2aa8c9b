// An MCP server whose start is special: `node starting-server.ts KIND [STARTS]`. It appends a line
// to the file STARTS at each start.
//
//     late          answers nothing before `initialize` has arrived, then all, oldest first
//     late-modern   the same at its first start, with the newest revision only
//     late-fragile  reads nothing before `initialize` has arrived, and then ends at any other request
//                   that came first
//     silent        does not answer a request that it does not know
//     fragile       ends at any other request before `initialize`
//     mute          never answers
//     after:MS      reads its input this late

import { appendFileSync, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

type Request = { id?: number | string; method: string; params?: { protocolVersion?: string } }

const [, , kind = '', starts] = process.argv
const isFirst = starts === undefined || !existsSync(starts)
if (starts !== undefined) appendFileSync(starts, 'started\n')
const serverInfo = { name: 'starting', version: '1' }
const capabilities = { tools: {} }
const modern = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
const refused = { error: { code: -32601, message: 'Method not found' } }

const isModern = kind === 'late-modern'
const unanswered: Request[] = []
let isInitialized = false

function answer({ id, method, params }: Request): void {
  const content = contentOf(method, params)
  if (id !== undefined && content !== undefined)
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...content })}\n`)
}

function contentOf(method: string, params: Request['params']): object | undefined {
  switch (method) {
    case 'initialize':
      if (isModern) return refused
      return { result: { protocolVersion: params?.protocolVersion, capabilities, serverInfo } }
    case 'tools/list': {
      const tools = [{ name: 'ping', inputSchema: { type: 'object' } }]
      return { result: { ...(isModern && modern), tools } }
    }
    case 'server/discover':
      if (isModern)
        return { result: { ...modern, supportedVersions: ['2026-07-28'], capabilities } }
      return kind === 'silent' ? undefined : refused
    default:
      return refused
  }
}

const delayMs = Number(/^after:(\d+)$/.exec(kind)?.[1] ?? 0)
if (delayMs > 0) await sleep(delayMs)
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request
  isInitialized ||= request.method === 'initialize'
  if (kind === 'mute') continue
  if (kind === 'fragile' && !isInitialized) process.exit(1)
  unanswered.push(request)
  if (kind.startsWith('late') && isFirst && !isInitialized) continue
  if (kind === 'late-fragile' && unanswered.at(0)?.method === 'server/discover') process.exit(1)
  for (const one of unanswered.splice(0)) answer(one)
}
